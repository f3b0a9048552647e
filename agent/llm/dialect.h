// A dialect is one provider's HTTP interface: a builder (request out) and a parser (reply in), both pure functions.
// A new dialect is one file like openai.cpp and a line in dialect.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/llm/http_transport.h"
#include "agent/llm/provider.h"

namespace kagent::llm {

// Which model is asked, and what of the dialect its server understands.
struct Target {
  std::string model;
  bool own_host = true;           // the dialect's own default address, not a base_url of the user's
  std::string token_limit_field;  // openai: "max_tokens" or "max_completion_tokens"; empty: chosen by own_host
};

// A reply under way: what the events so far said. Parsers only ever add to it.
struct Partial {
  std::string text;
  std::string model;
  std::string id;
  std::string finish_reason;
  Usage usage;
  bool truncated = false;
  bool refused = false;
  bool ended = false;      // the dialect's end marker was seen
  bool malformed = false;  // an event was no JSON object
  std::string error;       // the server's own message inside a 200
  bool error_is_final = false;
  nlohmann::json metadata = nlohmann::json::object();  // for the log; never text
};

struct Dialect {
  std::string_view name;  // as in --model name:model
  std::string_view default_base;
  std::string_view default_version;  // path segment of the default address
  std::string_view key_name;         // environment variable
  std::string_view list_path;        // GET, for check()

  // Path below the version segment; the model is already percent-encoded where it stands in a path.
  std::string (*path)(const Target& target, bool stream);
  std::string (*model_path)(const Target& target);  // GET of one model, on the dialect's own host
  Headers (*headers)(std::string_view key);         // key "": none is sent
  // Errors: kUsage (settings that contradict each other).
  Result<nlohmann::json> (*body)(const Target& target, const Request& request);
  void (*read_event)(std::string_view data, Partial& into);        // one SSE event
  void (*read_whole)(const nlohmann::json& reply, Partial& into);  // a reply that was not streamed
};

const Dialect& openai();
const Dialect& anthropic();
const Dialect& gemini();
const std::vector<const Dialect*>& dialects();

// The text part of the request body by dialect, replaced by a note: what the log keeps (the prompt is kept apart).
nlohmann::json without_prompt(nlohmann::json body);

// --- for parsers: hostile JSON
// ---------------------------------------------------------------------------------------- A JSON object (or array) at
// most 64 deep; null if the text is anything else.
nlohmann::json read_json(std::string_view text);
// The member, or null if `object` is no object or lacks it.
const nlohmann::json& member(const nlohmann::json& object, const char* name);
// The string member, or "".
std::string text_of(const nlohmann::json& object, const char* name);
// The member as a count of tokens: an integer from 0 to 10^12.
std::optional<std::int64_t> count_of(const nlohmann::json& object, const char* name);
// Copies small members (numbers, strings up to 200 bytes, objects of a few hundred bytes) for the log.
void keep(const nlohmann::json& from, std::initializer_list<const char*> names, nlohmann::json& into);
// The server's own message in an error body: error.message, error, message or detail; else the text itself.
std::string error_message(std::string_view body);

std::string percent_encoded_path(std::string_view text);  // '/' stays

}  // namespace kagent::llm
