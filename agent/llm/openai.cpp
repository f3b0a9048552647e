// OpenAI's chat completions, which vLLM, llama.cpp, Ollama, OpenRouter and LiteLLM speak too.
// Source: https://platform.openai.com/docs/api-reference/chat
#include "agent/llm/dialect.h"

namespace kagent::llm {
namespace {

using nlohmann::json;

std::string path(const Target&, bool) { return "chat/completions"; }

std::string model_path(const Target& target) { return "models/" + percent_encoded_path(target.model); }

Headers headers(std::string_view key) {
  if (key.empty()) return {};
  return {{"Authorization", "Bearer " + std::string(key)}};
}

Result<json> body(const Target& target, const Request& request) {
  const json message = {{"role", "user"}, {"content", request.prompt}};
  json out = {{"model", target.model}, {"messages", json::array({message})}};
  if (request.temperature) out["temperature"] = *request.temperature;
  if (request.max_output_tokens) {
    // OpenAI's reasoning models refuse the old name, many other servers know only that one.
    const char* by_host = target.own_host ? "max_completion_tokens" : "max_tokens";
    out[target.token_limit_field.empty() ? by_host : target.token_limit_field] = *request.max_output_tokens;
  }
  if (request.reasoning_effort) out["reasoning_effort"] = *request.reasoning_effort;
  if (request.stream) {
    out["stream"] = true;
    out["stream_options"] = {{"include_usage", true}};
  }
  return out;
}

void read_common(const json& reply, Partial& into) {
  if (const std::string model = text_of(reply, "model"); !model.empty()) into.model = model;
  if (const std::string id = text_of(reply, "id"); !id.empty()) into.id = id;
  keep(reply, {"id", "created", "system_fingerprint", "service_tier", "provider", "usage"}, into.metadata);
  const json& usage = member(reply, "usage");
  if (!usage.is_object()) return;
  into.usage.input_tokens = count_of(usage, "prompt_tokens");
  into.usage.output_tokens = count_of(usage, "completion_tokens");
  into.usage.reasoning_tokens = count_of(member(usage, "completion_tokens_details"), "reasoning_tokens");
  into.usage.cached_tokens = count_of(member(usage, "prompt_tokens_details"), "cached_tokens");
}

// `message` is a choice's "message" or "delta".
void read_choice(const json& reply, const char* message, Partial& into) {
  const json& choices = member(reply, "choices");
  if (!choices.is_array() || choices.empty()) return;
  const json& choice = choices[0];
  into.text += text_of(member(choice, message), "content");
  if (!text_of(member(choice, message), "refusal").empty()) into.refused = true;
  const std::string reason = text_of(choice, "finish_reason");
  if (reason.empty()) return;
  into.finish_reason = reason;
  into.truncated = reason == "length";
  into.refused = into.refused || reason == "content_filter";
}

bool read_error(const json& reply, Partial& into) {
  const json& error = member(reply, "error");
  if (error.is_null()) return false;
  into.error = error_message(reply.dump(-1, ' ', false, json::error_handler_t::replace));
  const std::optional<std::int64_t> code = count_of(error, "code");
  const std::string type = text_of(error, "type");
  into.error_is_final = (code && *code >= 400 && *code < 500 && *code != 408 && *code != 409 && *code != 429) ||
                        type == "invalid_request_error" || text_of(error, "code") == "insufficient_quota";
  return true;
}

void read_event(std::string_view data, Partial& into) {
  if (data == "[DONE]") {
    into.ended = true;
    return;
  }
  const json event = read_json(data);
  if (!event.is_object()) {
    into.malformed = true;
    return;
  }
  if (read_error(event, into)) return;
  read_common(event, into);
  read_choice(event, "delta", into);
}

void read_whole(const json& reply, Partial& into) {
  if (read_error(reply, into)) return;
  read_common(reply, into);
  read_choice(reply, "message", into);
  into.ended = !into.finish_reason.empty();
}

}  // namespace

const Dialect& openai() {
  static const Dialect dialect = {"openai",   "https://api.openai.com",
                                  "v1",       "OPENAI_API_KEY",
                                  "models",   path,
                                  model_path, headers,
                                  body,       read_event,
                                  read_whole};
  return dialect;
}

}  // namespace kagent::llm
