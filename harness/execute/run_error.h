// What goes wrong while a plan runs, thrown inside the executor and turned into a protocol error at its boundary
// (binding.cpp).
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

namespace kagent::execute {

// kind: launch_error, illegal_access, out_of_memory, operator_error, wrong_input, needs_gpu, not_capturable, driver.
class RunError : public std::runtime_error {
 public:
  RunError(std::string kind_word, const std::string& message, std::optional<int> answer_line = std::nullopt)
      : std::runtime_error(message), kind(std::move(kind_word)), line(answer_line) {}
  std::string kind;
  std::optional<int> line;  // in the answer's python block
};

}  // namespace kagent::execute
