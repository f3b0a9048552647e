// Sizes and layouts of tensors, safe against overflow.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/plan/plan.h"

namespace kagent::plan {

// Bytes of one element; 0 for a name that a plan cannot use.
int dtype_bytes(std::string_view dtype);

// Elements of a tensor that parse() accepted.
std::int64_t element_count(const Tensor& tensor);

// Bytes from the start of the storage to one past the tensor's last element (its offset included; 0 if it has no
// elements); nullopt above kMaxBytes.
std::optional<std::int64_t> byte_extent(const Tensor& tensor);

bool is_contiguous(const Tensor& tensor);

// Some permutation of it is contiguous: no holes, no overlap, no broadcast dimension.
bool is_dense(const Tensor& tensor);

}  // namespace kagent::plan
