#include "harness/execute/guards.h"

#include <ATen/ops/empty.h>

#include <cstring>
#include <random>
#include <utility>

namespace kagent::execute {
namespace {

constexpr std::int64_t kAlignment = 512;     // as torch's CUDA allocator aligns
constexpr std::int64_t kBytes = 65536;       // on each side: an index that is off by a row of most tensors lands in it
constexpr std::int64_t kMostExtraSteps = 8;  // of kAlignment

constexpr std::int64_t kWord = 8;  // the widest number; every guard begins at a multiple of it

// The upper two bytes of each four say sign and size: as float, as the upper half of a double, and as an integer. Both
// halves of a double have them, and so has each half of a float where it is read as float16 or bfloat16.
std::uint32_t word_of(GuardFill fill, std::mt19937_64& random) {
  const auto low = static_cast<std::uint32_t>(random() & 0x00FF00FFU);
  return low | (fill == GuardFill::kLarge ? 0x50005000U + (static_cast<std::uint32_t>(random() % 16) << 24)
                                          : 0x90009000U + (static_cast<std::uint32_t>(random() % 16) << 24));
}

}  // namespace

Guards::Guards(GuardFill fill, const c10::Device& device) {
  std::random_device source;
  std::mt19937_64 random((static_cast<std::uint64_t>(source()) << 32) | source());
  before_bytes_ = kBytes + kAlignment * (1 + static_cast<std::int64_t>(random() % kMostExtraSteps));
  std::vector<std::uint32_t> words(static_cast<std::size_t>((before_bytes_ + kWord) / 4));
  for (std::uint32_t& word : words) word = word_of(fill, random);
  const auto bytes = static_cast<std::int64_t>(words.size() * sizeof(std::uint32_t));
  at::Tensor here = at::empty({bytes}, c10::kByte);
  std::memcpy(here.mutable_data_ptr(), words.data(), static_cast<std::size_t>(bytes));
  pattern_ = here.to(device);
}

at::Tensor Guards::enclose(const at::Tensor& tensor, std::string what) {
  const auto size = static_cast<std::int64_t>(tensor.storage().nbytes());
  const std::int64_t end = before_bytes_ + size;
  at::Tensor bytes = at::empty({end + kBytes}, tensor.options().dtype(c10::kByte));
  bytes.slice(0, 0, before_bytes_).copy_(pattern_.slice(0, 0, before_bytes_));
  bytes.slice(0, end).copy_(pattern_.slice(0, end % kWord, end % kWord + kBytes));
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
    const auto changed = [&](std::int64_t begin, std::int64_t end, std::int64_t phase) {
      const at::Tensor guard = region.bytes.slice(0, begin, end);
      return guard.ne(pattern_.slice(0, phase, phase + end - begin)).any().item<bool>();
    };
    if (changed(0, region.begin, 0)) return "before the start of " + region.what;
    if (changed(region.end, region.end + kBytes, region.end % kWord)) return "past the end of " + region.what;
  }
  return std::nullopt;
}

}  // namespace kagent::execute
