// JSON text to a tree, for text that may be anything: bounded depth and number of values, no repeated key, no integer
// that does not fit 64 bits (nlohmann's own reader makes a float of it), valid UTF-8.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <variant>

#include "harness/plan/problem.h"

namespace kagent::plan {

// Problems: bad_json (message with the position), too_large.
std::variant<nlohmann::json, Problem> read_tree(std::string_view text);

}  // namespace kagent::plan
