// Anthropic's messages. Source: https://docs.anthropic.com/en/api/messages and .../messages-streaming
#include <fmt/format.h>

#include "agent/llm/dialect.h"
#include "agent/llm/effort.h"

namespace kagent::llm {
namespace {

using nlohmann::json;

constexpr int kDefaultMaxTokens = kAnthropicDefaultOutputTokens;  // the field is mandatory

std::string path(const Target&, bool) { return "messages"; }

std::string model_path(const Target& target) { return "models/" + percent_encoded_path(target.model); }

Headers headers(std::string_view key) {
  Headers out = {{"anthropic-version", "2023-06-01"}};
  if (!key.empty()) out.emplace_back("x-api-key", key);
  return out;
}

Result<json> body(const Target& target, const Request& request) {
  const int most = request.max_output_tokens.value_or(kDefaultMaxTokens);
  const json message = {{"role", "user"}, {"content", request.prompt}};
  json out = {{"model", target.model}, {"max_tokens", most}, {"messages", json::array({message})}};
  if (request.temperature) out["temperature"] = *request.temperature;
  if (request.stream) out["stream"] = true;
  if (!request.reasoning_effort) return out;
  const std::optional<int> budget = thinking_budget(*request.reasoning_effort);
  if (!budget)
    return Error{Code::kUsage,
                 fmt::format("reasoning effort \"{}\" means nothing to Anthropic: give none, low, medium, "
                             "high or a number of tokens",
                             *request.reasoning_effort)};
  if (*budget == 0) return out;
  if (*budget >= most)
    return Error{Code::kUsage,
                 fmt::format("reasoning effort {} is {} tokens and the token limit, which includes them, is "
                             "{}: raise the limit or lower the effort",
                             *request.reasoning_effort, *budget, most)};
  out["thinking"] = {{"type", "enabled"}, {"budget_tokens", *budget}};
  return out;
}

// Input tokens are reported in three parts: fresh, written to the cache, read from it.
void read_usage(const json& holder, Partial& into) {
  const json& usage = member(holder, "usage");
  if (const auto fresh = count_of(usage, "input_tokens")) {
    const std::int64_t cached = count_of(usage, "cache_read_input_tokens").value_or(0);
    into.usage.input_tokens = *fresh + cached + count_of(usage, "cache_creation_input_tokens").value_or(0);
    into.usage.cached_tokens = cached;
  }
  if (const auto output = count_of(usage, "output_tokens")) into.usage.output_tokens = output;
  json kept = json::object();
  keep(holder, {"usage"}, kept);
  if (member(kept, "usage").is_object()) into.metadata["usage"].update(kept["usage"]);
}

void read_message(const json& message, Partial& into) {
  if (const std::string model = text_of(message, "model"); !model.empty()) into.model = model;
  if (const std::string id = text_of(message, "id"); !id.empty()) into.id = id;
  keep(message, {"id", "stop_sequence"}, into.metadata);
  read_usage(message, into);
}

void read_stop(const json& holder, Partial& into) {
  const std::string reason = text_of(holder, "stop_reason");
  if (reason.empty()) return;
  into.finish_reason = reason;
  into.truncated = reason == "max_tokens" || reason == "model_context_window_exceeded";
  into.refused = reason == "refusal";
}

bool read_error(const json& event, Partial& into) {
  if (text_of(event, "type") != "error" && !event.contains("error")) return false;
  into.error = error_message(event.dump(-1, ' ', false, json::error_handler_t::replace));
  const std::string type = text_of(member(event, "error"), "type");
  into.error_is_final = type == "invalid_request_error" || type == "authentication_error" ||
                        type == "permission_error" || type == "not_found_error" || type == "billing_error";
  return true;
}

void read_event(std::string_view data, Partial& into) {
  const json event = read_json(data);
  if (!event.is_object()) {
    into.malformed = true;
    return;
  }
  if (read_error(event, into)) return;
  const std::string type = text_of(event, "type");
  if (type == "message_start") {
    read_message(member(event, "message"), into);
  } else if (type == "content_block_start") {
    into.text += text_of(member(event, "content_block"), "text");
  } else if (type == "content_block_delta") {
    const json& delta = member(event, "delta");
    if (text_of(delta, "type") == "text_delta") into.text += text_of(delta, "text");
  } else if (type == "message_delta") {
    read_stop(member(event, "delta"), into);
    read_usage(event, into);
  } else if (type == "message_stop") {
    into.ended = true;
  }  // ping, and kinds that do not exist yet
}

void read_whole(const json& reply, Partial& into) {
  if (!reply.is_object() || read_error(reply, into)) return;
  read_message(reply, into);
  const json& content = member(reply, "content");
  if (content.is_array()) {
    for (const json& block : content) {
      if (text_of(block, "type") == "text") into.text += text_of(block, "text");
    }
  }
  read_stop(reply, into);
  into.ended = !into.finish_reason.empty();
}

}  // namespace

const Dialect& anthropic() {
  static const Dialect dialect = {"anthropic", "https://api.anthropic.com",
                                  "v1",        "ANTHROPIC_API_KEY",
                                  "models",    path,
                                  model_path,  headers,
                                  body,        read_event,
                                  read_whole};
  return dialect;
}

}  // namespace kagent::llm
