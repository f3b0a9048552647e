// Why a plan was refused: an outcome for its author, not an error of ours.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kagent::plan {

struct Problem {
  std::string kind;         // a stable word
  std::string message;      // one line that says what was wrong and what to do
  std::optional<int> line;  // in the answer's python block
};

// "text" for a message: printable ASCII only, at most 80 characters.
// (Not `quoted`: argument-dependent lookup would find std::quoted.)
std::string in_quotes(std::string_view text);

}  // namespace kagent::plan
