// The operators that a plan may use (harness/plan/operators.txt), and what of their effects shows without a schema.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/plan.h"

namespace kagent::plan {

class Operators {
 public:
  // One operator a line, "aten::add.Tensor"; '#' begins a comment.
  static Operators from_text(std::string_view text);

  [[nodiscard]] bool allows(const Operator& op) const { return names_.contains(full_name(op)); }
  [[nodiscard]] bool empty() const { return names_.empty(); }

  static std::string full_name(const Operator& op);  // "aten::add.Tensor"; the default overload has no dot

 private:
  std::set<std::string, std::less<>> names_;
};

// Every tensor that a value names, lists and arrays included.
void tensors_of(const Value& value, std::vector<TensorId>& out);

// Tensors that it reads or writes: those of args and kwargs.
std::vector<TensorId> arguments_of(const Operator& op);
std::vector<TensorId> arguments_of(const Launch& launch);

// Tensors it makes or names as written: those of results.
std::vector<TensorId> results_of(const Operator& op);

// Arguments that it writes to: self of `name_`, `out=` tensors, running statistics of the batch norms (their schemas
// do not say so).
std::vector<TensorId> written_by(const Operator& op);

}  // namespace kagent::plan
