// Google's generateContent and streamGenerateContent. Source: https://ai.google.dev/api/generate-content
#include <fmt/format.h>

#include "agent/llm/dialect.h"
#include "agent/llm/effort.h"

namespace kagent::llm {
namespace {

using nlohmann::json;

std::string model_path(const Target& target) {
  const bool has_kind = target.model.find('/') != std::string::npos;  // "tunedModels/x"
  return (has_kind ? "" : "models/") + percent_encoded_path(target.model);
}

std::string path(const Target& target, bool stream) {
  return model_path(target) + (stream ? ":streamGenerateContent?alt=sse" : ":generateContent");
}

Headers headers(std::string_view key) {
  if (key.empty()) return {};
  return {{"x-goog-api-key", std::string(key)}};  // not ?key=: a URL ends up in logs
}

bool counts_tokens(std::string_view model) {
  return model.find("gemini-2") != std::string_view::npos || model.find("gemini-1") != std::string_view::npos;
}

// Gemini 2 takes a budget of tokens, later ones a level in words.
Result<json> thinking(const std::string& model, const std::string& effort) {
  const std::optional<int> budget = thinking_budget(effort);
  const bool is_number = !effort.empty() && effort.find_first_not_of("0123456789") == std::string::npos;
  if (!counts_tokens(model) && !is_number) return json{{"thinkingLevel", effort}};
  if (budget) return json{{"thinkingBudget", *budget}};
  return Error{Code::kUsage,
               fmt::format("reasoning effort \"{}\" means nothing to {}: give none, minimal, low, medium, "
                           "high or a number of tokens",
                           effort, model)};
}

Result<json> body(const Target& target, const Request& request) {
  json config = json::object();
  if (request.temperature) config["temperature"] = *request.temperature;
  if (request.max_output_tokens) config["maxOutputTokens"] = *request.max_output_tokens;
  if (request.reasoning_effort) {
    Result<json> wanted = thinking(target.model, *request.reasoning_effort);
    if (!wanted) return wanted;
    config["thinkingConfig"] = std::move(wanted).value();
  }
  const json part = {{"text", request.prompt}};
  const json content = {{"role", "user"}, {"parts", json::array({part})}};
  json out = {{"contents", json::array({content})}};
  if (!config.empty()) out["generationConfig"] = std::move(config);
  return out;
}

void read_usage(const json& usage, Partial& into) {
  if (!usage.is_object()) return;
  into.usage.input_tokens = count_of(usage, "promptTokenCount");
  into.usage.cached_tokens = count_of(usage, "cachedContentTokenCount");
  into.usage.reasoning_tokens = count_of(usage, "thoughtsTokenCount");
  // Candidates are counted without their thoughts, which are paid for like the rest.
  into.usage.output_tokens = count_of(usage, "candidatesTokenCount");
  if (into.usage.reasoning_tokens)
    into.usage.output_tokens = into.usage.output_tokens.value_or(0) + *into.usage.reasoning_tokens;
}

void read_candidate(const json& candidate, Partial& into) {
  const json& parts = member(member(candidate, "content"), "parts");
  if (parts.is_array()) {
    for (const json& part : parts) {
      const json& thought = member(part, "thought");
      if (!thought.is_boolean() || !thought.get<bool>()) into.text += text_of(part, "text");
    }
  }
  const std::string reason = text_of(candidate, "finishReason");
  if (reason.empty()) return;
  into.finish_reason = reason;
  into.truncated = reason == "MAX_TOKENS";
  into.refused = reason != "STOP" && reason != "MAX_TOKENS";  // SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, ...
  into.ended = true;
}

bool read_error(const json& reply, Partial& into) {
  const json& error = member(reply, "error");
  if (error.is_null()) return false;
  into.error = error_message(reply.dump(-1, ' ', false, json::error_handler_t::replace));
  const std::int64_t code = count_of(error, "code").value_or(500);
  into.error_is_final = code >= 400 && code < 500 && code != 408 && code != 409 && code != 429;
  return true;
}

void read_whole(const json& reply, Partial& into) {
  if (read_error(reply, into)) return;
  if (const std::string model = text_of(reply, "modelVersion"); !model.empty()) into.model = model;
  if (const std::string id = text_of(reply, "responseId"); !id.empty()) into.id = id;
  keep(reply, {"responseId", "modelVersion", "usageMetadata", "promptFeedback"}, into.metadata);
  read_usage(member(reply, "usageMetadata"), into);
  const json& candidates = member(reply, "candidates");
  if (candidates.is_array() && !candidates.empty()) read_candidate(candidates[0], into);
  if (const std::string blocked = text_of(member(reply, "promptFeedback"), "blockReason"); !blocked.empty()) {
    into.finish_reason = blocked;  // the prompt itself was refused: there are no candidates
    into.refused = into.ended = true;
  }
}

void read_event(std::string_view data, Partial& into) {
  if (data == "[DONE]") return;  // proxies add it
  const json event = read_json(data);
  if (!event.is_object()) {
    into.malformed = true;
    return;
  }
  read_whole(event, into);
}

}  // namespace

const Dialect& gemini() {
  static const Dialect dialect = {"gemini",   "https://generativelanguage.googleapis.com",
                                  "v1beta",   "GEMINI_API_KEY",
                                  "models",   path,
                                  model_path, headers,
                                  body,       read_event,
                                  read_whole};
  return dialect;
}

}  // namespace kagent::llm
