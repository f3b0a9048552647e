// A kernel beside an answer's own that slows half of the multiprocessors down for a moment, another half each time:
// blocks that race for the same memory then come in other orders than on an idle GPU.
#pragma once

#include <c10/core/Device.h>
#include <cuda.h>

#include <cstdint>
#include <string>

#include "harness/execute/kernel_module.h"

namespace kagent::execute {

// PTX of kagent_disturb. One block a multiprocessor, all of them alike to the scheduler: half of them load the
// multiprocessor's memory pipe, the other half wait.
std::string disturb_ptx();

class Disturbance {
 public:
  // Throws RunError.
  explicit Disturbance(const c10::Device& device);
  // Starts it on a stream of its own; it ends by itself after some 0.2 ms. `seed` chooses the half.
  void start(std::uint32_t seed);

 private:
  c10::Device device_;
  KernelModule module_;
  CUfunction function_;
  int multiprocessors_ = 0;
};

}  // namespace kagent::execute
