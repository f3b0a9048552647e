// What is wrong with a plan: an outcome of the answer, reported to its author.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kagent::plan {

struct Problem {
  std::string kind;         // a stable word: "bad_plan", "unknown_tensor", "bad_argument", ...
  std::string message;      // one line: what is wrong and what to do
  std::optional<int> line;  // 1-based in the answer's python block
};

// Text of a plan as part of a message: in double quotes, control characters replaced, at most 80 bytes.
std::string quoted(std::string_view text);

}  // namespace kagent::plan
