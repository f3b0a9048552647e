// One operator of a plan, resolved against torch's dispatcher, with its constant arguments converted in advance.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/plan/plan.h"

namespace kagent::execute {

class OperatorCall {
 public:
  // `device`: what "cuda" in the plan means here. Throws RunError(operator_error).
  OperatorCall(const plan::Operator& op, const c10::Device& device, std::optional<int> line);

  // Runs it on the tensors of `environment` (by plan id) and stores the results there, held against the plan's table:
  // shapes and dtypes must be equal, other strides are copied into the planned ones, views must alias their base and
  // fresh tensors must not. Returns how many results had to be copied. Throws RunError.
  int run(std::vector<at::Tensor>& environment, const std::vector<plan::Tensor>& table);

  [[nodiscard]] const std::string& name() const { return name_; }
  // Hands out memory that holds garbage: aten::empty and its kind.
  [[nodiscard]] bool makes_scratch() const { return scratch_; }
  // Returns a view of its argument, or the argument: launches no kernel.
  [[nodiscard]] bool only_views(const std::vector<plan::Tensor>& table) const;

  std::vector<plan::TensorId> reads;  // tensors among its arguments
  std::vector<plan::TensorId> makes;  // tensors among its results

 private:
  void bind(at::Tensor result, plan::TensorId id, std::vector<at::Tensor>& environment,
            const std::vector<plan::Tensor>& table, int& copied);
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  std::optional<int> line_;
  std::optional<c10::OperatorHandle> handle_;
  std::vector<c10::IValue> arguments_;                           // constants in place; tensors filled in at run
  std::vector<std::pair<std::size_t, plan::TensorId>> tensors_;  // argument i is this tensor
  struct TensorList {
    std::size_t argument;
    bool optional;                                   // Tensor?[]
    std::vector<std::optional<plan::TensorId>> ids;  // nullopt: None
  };
  std::vector<TensorList> lists_;
  std::vector<plan::Value> results_;
  bool scratch_ = false;
};

}  // namespace kagent::execute
