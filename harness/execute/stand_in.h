// What may stand in for a kernel's launches, to see whether they do anything: nothing, or a copy of an argument.
#pragma once

#include <utility>
#include <vector>

#include "harness/plan/kernels.h"
#include "harness/plan/plan.h"

namespace kagent::execute {

enum class StandIn {
  kNone,
  kNothing,  // they are left out
  kCopy,     // what they write becomes a copy of an argument of the same size and type
};

using Copies = std::vector<std::pair<plan::TensorId, plan::TensorId>>;  // from, to

// For each tensor that a launch may write to and that forward made, an argument of as many elements in other memory;
// empty where there is none.
Copies copies_of(const plan::Launch& launch, const plan::Plan& plan, const plan::Kernels& kernels);

}  // namespace kagent::execute
