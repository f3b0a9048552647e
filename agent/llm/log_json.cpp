#include "agent/llm/log_json.h"

namespace kagent::llm {
namespace {

using nlohmann::json;

json usage_json(const Usage& usage) {
  json out = json::object();
  if (usage.input_tokens) out["input_tokens"] = *usage.input_tokens;
  if (usage.output_tokens) out["output_tokens"] = *usage.output_tokens;
  if (usage.reasoning_tokens) out["reasoning_tokens"] = *usage.reasoning_tokens;
  if (usage.cached_tokens) out["cached_tokens"] = *usage.cached_tokens;
  return out;
}

json parsed_or_text(const std::string& text) {
  json value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json(text) : value;
}

}  // namespace

json to_json(const Attempt& attempt) {
  return {{"number", attempt.number},          {"http_status", attempt.http_status}, {"problem", attempt.problem},
          {"elapsed_s", attempt.elapsed_s},    {"wait_s", attempt.wait_s},           {"request_id", attempt.request_id},
          {"usage", usage_json(attempt.usage)}};
}

json to_json(const Reply& reply) {
  return {{"model", reply.model},
          {"provider", reply.provider},
          {"vendor", reply.vendor},
          {"usage", usage_json(reply.usage)},
          {"elapsed_s", reply.elapsed_s},
          {"finish_reason", reply.finish_reason},
          {"truncated", reply.truncated},
          {"refused", reply.refused},
          {"request_id", reply.request_id},
          {"request", parsed_or_text(reply.request)},
          {"response", parsed_or_text(reply.raw)}};
}

}  // namespace kagent::llm
