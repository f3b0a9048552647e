// Text to JSON, for text that may be anything: no exception, no unbounded nesting.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "agent/base/result.h"

namespace kagent {

inline constexpr int kMaxJsonDepth = 100;

// Errors: kParse, in our words, with line and column; also for nesting deeper than `most_deep`, which would exhaust the
// stack of whoever copies or prints the value.
Result<nlohmann::json> parse_json(std::string_view text, int most_deep = kMaxJsonDepth);

// On several lines, for people and programs. Bytes that are not UTF-8 (a folder's name) become U+FFFD; dump() would
// throw. What a terminal would obey (printable.h) is written as an escape, so that the values stay what they are.
std::string pretty(const nlohmann::json& value);

// object[key] if `object` is an object that has it with that type, else the fallback. (json::value() throws when the
// type is another one.)
std::string text_or(const nlohmann::json& object, const char* key, std::string fallback);
std::int64_t integer_or(const nlohmann::json& object, const char* key, std::int64_t fallback);
double number_or(const nlohmann::json& object, const char* key, double fallback);
bool flag_or(const nlohmann::json& object, const char* key, bool fallback);
// The same for a member that is an object or an array; nothing of that kind: an empty one.
nlohmann::json object_in(const nlohmann::json& object, const char* key);
nlohmann::json array_in(const nlohmann::json& object, const char* key);

}  // namespace kagent
