// Guard regions: for one run, tensors lie between bytes of a pattern that nothing may write to.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kagent::execute {

class Guards {
 public:
  // A new pattern and a new distance from the allocation's start, so that addresses differ from run to run.
  Guards();

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
  std::uint8_t pattern_;
  std::int64_t before_bytes_;
};

}  // namespace kagent::execute
