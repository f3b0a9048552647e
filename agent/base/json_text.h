// Text to JSON, for text that may be anything: no exception, no unbounded nesting.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "agent/base/result.h"

namespace kagent {

// Errors: kParse, with the position; also for nesting deeper than 100, which would exhaust the stack of whoever walks
// or prints the value.
Result<nlohmann::json> parse_json(std::string_view text);

}  // namespace kagent
