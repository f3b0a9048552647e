// A launch's arguments as the bytes that cuLaunchKernelEx takes.
#pragma once

#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "harness/plan/kernels.h"
#include "harness/plan/plan.h"
#include "harness/plan/problem.h"

namespace kagent::plan {

struct PackedArg {
  std::vector<std::byte> bytes;                            // as long as the kernel's parameter; pointers are 0 yet
  std::vector<std::pair<std::size_t, TensorId>> pointers;  // write this tensor's data address (8 bytes) at this offset
};

using Packed = std::variant<std::vector<PackedArg>, Problem>;  // one a parameter, in order

// Count, kind and size of every argument against the kernel's parameters. Problem: bad_argument, without a line.
Packed pack(const Launch& launch, const Kernel& kernel);

}  // namespace kagent::plan
