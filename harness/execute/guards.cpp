#include "harness/execute/guards.h"

#include <ATen/ops/empty.h>

#include <random>
#include <utility>

namespace kagent::execute {
namespace {

constexpr std::int64_t kAlignment = 512;     // as torch's CUDA allocator aligns
constexpr std::int64_t kBytes = 65536;       // on each side: an index that is off by a row of most tensors lands in it
constexpr std::int64_t kMostExtraSteps = 8;  // of kAlignment

}  // namespace

Guards::Guards() {
  std::random_device source;
  pattern_ = static_cast<std::uint8_t>(1 + source() % 255);
  before_bytes_ = kBytes + kAlignment * (1 + static_cast<std::int64_t>(source() % kMostExtraSteps));
}

at::Tensor Guards::enclose(const at::Tensor& tensor, std::string what) {
  const auto size = static_cast<std::int64_t>(tensor.storage().nbytes());
  const std::int64_t end = before_bytes_ + size;
  at::Tensor bytes = at::empty({end + kBytes}, tensor.options().dtype(c10::kByte));
  bytes.fill_(pattern_);
  if (size != 0) {
    at::Tensor from = at::empty({0}, tensor.options().dtype(c10::kByte)).set_(tensor.storage(), 0, {size}, {1});
    bytes.slice(0, before_bytes_, end).copy_(from);
  }
  at::Tensor typed =
      at::empty({0}, tensor.options())
          .set_(bytes.storage(),
                before_bytes_ / static_cast<std::int64_t>(tensor.element_size()) + tensor.storage_offset(),
                tensor.sizes(), tensor.strides());
  regions_.push_back({std::move(bytes), before_bytes_, end, std::move(what)});
  return typed;
}

std::optional<std::string> Guards::broken() const {
  for (const Region& region : regions_) {
    const auto changed = [&](const at::Tensor& guard) { return guard.ne(pattern_).any().item<bool>(); };
    if (changed(region.bytes.slice(0, 0, region.begin))) return "before the start of " + region.what;
    if (changed(region.bytes.slice(0, region.end))) return "past the end of " + region.what;
  }
  return std::nullopt;
}

}  // namespace kagent::execute
