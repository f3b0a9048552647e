// Guard regions: for one run, tensors lie between bytes of a pattern that nothing may write to. Two runs with different
// patterns must give the same result: else something outside a tensor is read.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kagent::execute {

// What guard regions hold. Random bytes, so that they cannot be known, but for sign and size as numbers of any type:
// whatever a kernel asks of such a number, one of the two answers otherwise or spoils what it reaches.
enum class GuardFill {
  kLarge,  // positive, 2^33 to 2^64 as float
  kSmall,  // negative, -2^-95 to -2^-64 as float
};

class Guards {
 public:
  // A new pattern and a new distance from the allocation's start, so that addresses differ from run to run.
  Guards(GuardFill fill, const c10::Device& device);

  // A copy of `tensor`, sizes, strides and bytes, between two guard regions. `what` names it in a message.
  at::Tensor enclose(const at::Tensor& tensor, std::string what);

  // What was made by enclose() and has a changed guard, in words; nullopt: none. Synchronises.
  [[nodiscard]] std::optional<std::string> broken() const;

 private:
  struct Region {
    at::Tensor bytes;         // the whole allocation
    std::int64_t begin, end;  // of the tensor's own storage within it
    std::string what;
  };
  std::vector<Region> regions_;
  at::Tensor pattern_;  // bytes, as many as the largest guard has
  std::int64_t before_bytes_;
};

}  // namespace kagent::execute
