#include "harness/plan/dtype.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "harness/plan/parse.h"

namespace kagent::plan {
namespace {

constexpr std::pair<std::string_view, int> kBytes[] = {
    {"float32", 4}, {"float64", 8}, {"float16", 2}, {"bfloat16", 2}, {"int64", 8},
    {"int32", 4},   {"int16", 2},   {"int8", 1},    {"uint8", 1},    {"bool", 1},
};

// a * b for a, b in 0..kMaxBytes; anything above is kMaxBytes.
std::int64_t bounded_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) || product > kMaxBytes ? kMaxBytes : product;
}

// Dimensions other than 1 as (stride, size); {} for a tensor without elements.
std::vector<std::pair<std::int64_t, std::int64_t>> real_dimensions(const Tensor& tensor) {
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] == 0) return {};
    if (tensor.shape[i] != 1) out.emplace_back(tensor.stride[i], tensor.shape[i]);
  }
  return out;
}

// The innermost dimension last.
bool packed(const std::vector<std::pair<std::int64_t, std::int64_t>>& dimensions) {
  std::int64_t expected = 1;
  for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
    if (d->first != expected) return false;
    expected = bounded_product(expected, d->second);
  }
  return true;
}

}  // namespace

int dtype_bytes(std::string_view dtype) {
  for (const auto& [name, bytes] : kBytes) {
    if (name == dtype) return bytes;
  }
  return 0;
}

std::int64_t element_count(const Tensor& tensor) {
  if (std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.shape) count = bounded_product(count, size);
  return count;
}

std::optional<std::int64_t> byte_extent(const Tensor& tensor) {
  if (element_count(tensor) == 0) return 0;
  std::int64_t last = tensor.offset;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    last += bounded_product(tensor.shape[i] - 1, tensor.stride[i]);  // at most 17 terms of 2^47
  }
  if (last >= kMaxBytes) return std::nullopt;
  const std::int64_t extent = bounded_product(last + 1, dtype_bytes(tensor.dtype));
  return extent < kMaxBytes ? std::optional(extent) : std::nullopt;
}

bool is_contiguous(const Tensor& tensor) { return packed(real_dimensions(tensor)); }

bool is_dense(const Tensor& tensor) {
  auto dimensions = real_dimensions(tensor);
  std::sort(dimensions.rbegin(), dimensions.rend());
  return packed(dimensions);
}

}  // namespace kagent::plan
