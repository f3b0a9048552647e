// When the executor may let go of a tensor: after its last use, so that peak memory means something.
#pragma once

#include <vector>

#include "harness/plan/plan.h"

namespace kagent::plan {

// Of ids, not storages: a view that outlives its base keeps the storage by its own reference.
// Inputs, parameters, buffers, state and constants are the executor's and never listed in drop_after_*.
struct Lifetimes {
  std::vector<std::vector<TensorId>> drop_after_prepare;  // [step]: ids whose last use it is
  std::vector<std::vector<TensorId>> drop_after_forward;  // [step]; outputs are never listed
  std::vector<TensorId> kept;                             // made by prepare and used by forward or returned: live on
};

Lifetimes lifetimes(const Plan& plan);

}  // namespace kagent::plan
