// Text to JSON, for text that may be anything: no exception, no unbounded nesting.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "agent/base/result.h"

namespace kagent {

// Errors: kParse, with the position; also for nesting deeper than 100, which would exhaust the stack of whoever copies
// or prints the value.
Result<nlohmann::json> parse_json(std::string_view text);

// object[key] if `object` is an object that has it with that type, else the fallback. (json::value() throws when the
// type is another one.)
std::string text_or(const nlohmann::json& object, const char* key, std::string fallback);
std::int64_t integer_or(const nlohmann::json& object, const char* key, std::int64_t fallback);

}  // namespace kagent
