// One block at a time: its threads as fibers on one operating-system thread.
#pragma once

#include <vector_functions.h>
#include <vector_types.h>

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "harness/emulate/include/kagent_emulate/runtime.h"
#include "harness/emulate/runtime/wire.h"

namespace kagent::emulate {

// A barrier over all blocks of a cooperative launch (launch.cpp).
void wait_for_all_blocks();

class Block {
 public:
  Block() = default;
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Runs block number `index` of the launch to its end.
  void run(const Kernel& kernel, const Launch& launch, void** arguments, std::uint64_t index);

  // What kernels ask for (runtime.h), for the thread that runs now.
  [[nodiscard]] unsigned rank() const { return current_; }
  int barrier(int value, const void* site);
  const std::uint64_t* exchange(unsigned mask, std::uint64_t value, const std::uint64_t* words = nullptr);
  [[nodiscard]] unsigned live_lanes() const { return warps_[current_ / 32].live; }
  void grid_barrier();
  void yield();
  [[nodiscard]] void* shared() const { return shared_.get(); }

  // For checks: what may hold shared memory of this block, and its number of barriers so far.
  [[nodiscard]] std::size_t shared_bytes() const { return shared_bytes_; }
  [[nodiscard]] unsigned generation() const { return generation_; }
  [[nodiscard]] unsigned warp_generation() const { return warps_[current_ / 32].generation; }

  static Block*& current_block();

 private:
  struct Thread {
    boost::context::fiber fiber;
    kagent_index index;
    bool ready;
    bool running;
  };
  // Lanes that meet under one mask. Masks that part a warp have different lowest lanes: one group each.
  struct Group {
    unsigned mask = 0;
    unsigned arrived = 0;
    unsigned generation = 0;
    unsigned unread[2] = {};
    std::uint64_t row[2][kWide + 3 * 32] = {};
  };
  struct Warp {
    unsigned live = 0;
    unsigned generation = 0;
    std::unique_ptr<Group[]> groups = std::make_unique<Group[]>(32);
  };

  void need_stacks(unsigned threads);
  void start(unsigned thread);
  void suspend();
  void leave();  // the current thread has returned
  void settle_barrier();
  void settle_group(Warp& warp, unsigned first_thread, Group& group);
  void run_plain();

  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  boost::context::fiber scheduler_;
  const Kernel* kernel_ = nullptr;
  void** arguments_ = nullptr;
  unsigned current_ = 0;
  unsigned live_ = 0;
  unsigned arrived_ = 0;
  unsigned generation_ = 0;
  const void* site_ = nullptr;
  int sums_[2] = {};
  char* stacks_ = nullptr;
  std::size_t stacks_bytes_ = 0;
  std::unique_ptr<char[], void (*)(void*)> shared_{nullptr, ::free};
  std::size_t shared_bytes_ = 0;
  std::size_t shared_room_ = 0;
};

// Shared variables of the program on this operating-system thread: [begin, end).
std::pair<char*, char*> static_shared();

}  // namespace kagent::emulate
