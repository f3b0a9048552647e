// Leaves nothing of an earlier run where a later one could read it: memory that torch's allocator holds but nobody
// uses, and what lies on the chip and is never cleared between launches (registers, shared memory, per-thread local
// memory).
//
// Local memory belongs to a place on the chip, not to a launch: a thread finds there what the last thread on its place
// left. The kernels here fill every place: as many blocks as fit at once, none of which ends before all have begun.
#pragma once

#include <c10/core/Device.h>
#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>

#include "harness/execute/kernel_module.h"

namespace kagent::execute {

// PTX of the kernels kagent_scrub_chip (registers and shared memory) and, where `local_bytes` a thread are not 0,
// kagent_scrub_local. The driver compiles it for the GPU at hand (some 0.1 s, then its own cache has it).
std::string scrub_ptx(int local_bytes);

class Scrub {
 public:
  // `local_bytes`: the most that any kernel of the answer uses a thread. Throws RunError.
  Scrub(const c10::Device& device, int local_bytes);
  // Fills all of it with `word`, on `stream`. Nothing may be running on the device. Throws RunError.
  void run(std::uint32_t word, CUstream stream);
  [[nodiscard]] int multiprocessors() const { return multiprocessors_; }

 private:
  // `bytes`: of shared or local memory to fill.
  void launch(CUfunction function, int blocks, int threads, int bytes, CUstream stream, std::uint32_t word);

  KernelModule module_;
  CUfunction chip_ = nullptr;
  CUfunction local_ = nullptr;  // null: no kernel uses local memory
  int multiprocessors_ = 0;
  int shared_bytes_ = 0;  // the most that a block may have
  int local_bytes_ = 0;   // a thread's
  int local_blocks_ = 0;  // that fit on a multiprocessor at once
};

// Fills the whole words of [begin, end), two addresses of the device. Throws RunError.
void fill_words(std::size_t begin, std::size_t end, std::uint32_t word, CUstream stream);

// Fills, with `word`, every block of torch's allocator that nobody holds (also of the graphs' pools: what they hold
// there does not last from replay to replay), and what lies between the end of a tensor and the end of its block.
void fill_free_memory(const c10::Device& device, std::uint32_t word, CUstream stream);

}  // namespace kagent::execute
