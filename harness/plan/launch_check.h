// One launch against the compiled kernel and the device (docs/plan.md, rule 5).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "harness/plan/kernels.h"
#include "harness/plan/plan.h"
#include "harness/plan/problem.h"

namespace kagent::plan {

// Problems, all without a line: unknown_kernel, bad_launch (dimensions, memory, occupancy), bad_argument.
std::optional<Problem> check_launch(const Launch& launch, const std::vector<Tensor>& tensors, const Kernels& kernels,
                                    const Device& device);

// May a kernel read a tensor of this dtype through a pointer to `pointee`? Types of unknown size may read anything,
// and so may vectors of integers, which move bytes; a scalar of another size or meaning may not.
bool pointer_reads(std::string_view pointee, std::string_view dtype);

// Tensors that it may write to: those behind pointers that are not known to be const. `kernels` has the launch's
// kernel.
std::vector<TensorId> written_by(const Launch& launch, const Kernels& kernels);

}  // namespace kagent::plan
