#include "harness/emulate/runtime/block.h"

#include <sys/mman.h>

#include <boost/context/preallocated.hpp>
#include <cstdlib>
#include <cstring>

#include "harness/emulate/runtime/access.h"
#include "harness/emulate/runtime/report.h"

thread_local kagent_index threadIdx, blockIdx, blockDim, gridDim;
extern thread_local char
    kagent_shared_begin[64];  // linked before and after the answer (shared_begin.cpp, shared_end.cpp)
extern thread_local char kagent_shared_end[64];

namespace kagent::emulate {
namespace {

constexpr std::size_t kStackBytes = std::size_t{128} << 10;
constexpr std::uint64_t kCanary = 0x5afe5afe5afe5afe;
constexpr int kPoison = 0xff;  // floats NaN, integers -1: what nobody wrote shows

// The stacks are ours: boost need not free them.
struct Borrowed {
  static boost::context::stack_context allocate() { return {}; }
  static void deallocate(boost::context::stack_context&) {}
};

}  // namespace

std::pair<char*, char*> static_shared() {
  return {kagent_shared_begin + sizeof kagent_shared_begin, kagent_shared_end};
}

Block*& Block::current_block() {
  static thread_local Block* block = nullptr;
  return block;
}

Block::~Block() {
  threads_.clear();
  if (stacks_ != nullptr) ::munmap(stacks_, stacks_bytes_);
}

void Block::need_stacks(unsigned threads) {
  const std::size_t bytes = threads * kStackBytes;
  if (bytes <= stacks_bytes_) return;
  if (stacks_ != nullptr) ::munmap(stacks_, stacks_bytes_);
  void* got = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) end_program("out_of_memory", "no memory for the stacks of a block's threads", 0);
  stacks_ = static_cast<char*>(got);
  stacks_bytes_ = bytes;
}

void Block::start(unsigned thread) {
  char* bottom = stacks_ + thread * kStackBytes;
  std::memcpy(bottom, &kCanary, sizeof kCanary);
  boost::context::stack_context context;
  context.size = kStackBytes - 256 - std::size_t{thread % 31} * 192;  // tops over different cache sets
  context.sp = bottom + context.size;
  threads_[thread].fiber =
      boost::context::fiber(std::allocator_arg, boost::context::preallocated(context.sp, context.size - 64, context),
                            Borrowed(), [this](boost::context::fiber&& scheduler) {
                              scheduler_ = std::move(scheduler);
                              kernel_->body(arguments_);
                              leave();
                              return std::move(scheduler_);
                            });
}

void Block::run(const Kernel& kernel, const Launch& launch, void** arguments, std::uint64_t index) {
  const unsigned x = launch.block[0], y = launch.block[1], n = x * y * launch.block[2];
  kernel_ = &kernel;
  arguments_ = arguments;
  gridDim = {launch.grid[0], launch.grid[1], launch.grid[2]};
  blockDim = {x, y, launch.block[2]};
  blockIdx = {static_cast<unsigned>(index % gridDim.x), static_cast<unsigned>(index / gridDim.x % gridDim.y),
              static_cast<unsigned>(index / gridDim.x / gridDim.y)};
  if (launch.shared_bytes > shared_room_) {
    shared_room_ = (launch.shared_bytes + 1023) / 1024 * 1024;
    shared_.reset(static_cast<char*>(std::aligned_alloc(1024, shared_room_)));
  }
  shared_bytes_ = launch.shared_bytes;
  if (shared_bytes_ != 0) std::memset(shared_.get(), kPoison, shared_bytes_);
  const auto [begin, end] = static_shared();
  std::memset(begin, kPoison, static_cast<std::size_t>(end - begin));
  current_block() = this;
  access_block_begins(*this);

  warps_.resize((n + 31) / 32);
  for (unsigned w = 0; w < warps_.size(); ++w) {
    const unsigned lanes = n - w * 32;
    warps_[w].live = lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1;
    warps_[w].generation = 0;
    for (unsigned g = 0; g < 32; ++g) warps_[w].groups[g].arrived = 0;
  }
  threads_.resize(n);
  for (unsigned i = 0; i < n; ++i) {
    threads_[i].index = {i % x, i / x % y, i / x / y};
    threads_[i].ready = threads_[i].running = true;
  }
  live_ = n;
  arrived_ = 0;
  generation_ = 0;
  sums_[0] = sums_[1] = 0;
  if (!kagent_fibers) {
    run_plain();
    return;
  }
  need_stacks(n);
  for (unsigned i = 0; i < n; ++i) start(i);
  while (live_ > 0) {
    bool any = false;
    for (unsigned i = 0; i < n; ++i) {
      Thread& thread = threads_[i];
      if (!thread.running || !thread.ready) continue;
      any = true;
      current_ = i;
      threadIdx = thread.index;
      thread.fiber = std::move(thread.fiber).resume();
    }
    if (!any) {
      for (current_ = 0; !threads_[current_].running;) ++current_;
      threadIdx = threads_[current_].index;
      end_program(
          "deadlock",
          "threads of a block wait for each other for ever: a __syncthreads() or warp function that only some of "
          "them reach",
          0);
    }
  }
}

// Threads that never wait are called one after the other.
void Block::run_plain() {
  for (unsigned i = 0; i < threads_.size(); ++i) {
    current_ = i;
    threadIdx = threads_[i].index;
    kernel_->body(arguments_);
  }
}

void Block::suspend() {
  const unsigned me = current_;
  scheduler_ = std::move(scheduler_).resume();
  if (std::memcmp(stacks_ + me * kStackBytes, &kCanary, sizeof kCanary) != 0)
    end_program("not_emulable", "a thread needs more than 128 KiB of stack", 0);
}

void Block::yield() {
  if (kagent_fibers) suspend();
}

void Block::leave() {
  Thread& thread = threads_[current_];
  thread.running = false;
  if (std::memcmp(stacks_ + current_ * kStackBytes, &kCanary, sizeof kCanary) != 0)
    end_program("not_emulable", "a thread needs more than 128 KiB of stack", 0);
  --live_;
  Warp& warp = warps_[current_ / 32];
  warp.live &= ~(1u << current_ % 32);
  settle_barrier();
  for (unsigned g = 0; g < 32; ++g) {
    if (warp.groups[g].arrived != 0) settle_group(warp, current_ / 32 * 32, warp.groups[g]);
  }
}

void Block::settle_barrier() {
  if (arrived_ == 0 || arrived_ < live_) return;
  arrived_ = 0;
  ++generation_;
  sums_[generation_ & 1] = 0;
  for (Thread& thread : threads_) thread.ready = true;
}

int Block::barrier(int value, const void* site) {
  const unsigned generation = generation_;
  if (arrived_ == 0) site_ = site;
  if (checking() && site != site_) {
    end_program("divergent_barrier", "threads of one block wait at different __syncthreads()", line_of(site));
  }
  sums_[generation & 1] += value;
  ++arrived_;
  settle_barrier();
  while (generation_ == generation) {
    threads_[current_].ready = false;
    suspend();
  }
  return sums_[generation & 1];
}

void Block::settle_group(Warp& warp, unsigned first_thread, Group& group) {
  const unsigned wanted = group.mask & warp.live;
  if ((group.arrived & wanted) != wanted) return;
  group.row[group.generation & 1][32] = group.unread[group.generation & 1] = group.arrived;
  group.arrived = 0;
  ++group.generation;
  ++warp.generation;
  for (unsigned lane = 0; lane < 32 && first_thread + lane < threads_.size(); ++lane) {
    if ((group.mask >> lane & 1) != 0) threads_[first_thread + lane].ready = true;
  }
}

const std::uint64_t* Block::exchange(unsigned mask, std::uint64_t value, const std::uint64_t* words) {
  const unsigned lane = current_ % 32, first = current_ / 32 * 32;
  if ((mask >> lane & 1) == 0) end_program("bad_mask", "a lane calls a warp function whose mask leaves it out", 0);
  Warp& warp = warps_[current_ / 32];
  Group& group = warp.groups[static_cast<unsigned>(__builtin_ctz(mask))];
  // Others may still read the row that this one would write, or meet under another mask.
  while ((group.arrived != 0 && group.mask != mask) || group.unread[group.generation & 1] != 0) suspend();
  const unsigned generation = group.generation;
  group.mask = mask;
  group.row[generation & 1][lane] = value;
  if (words != nullptr)
    std::memcpy(group.row[generation & 1] + kWide + std::size_t{3} * lane, words, 3 * sizeof *words);
  group.arrived |= 1u << lane;
  settle_group(warp, first, group);
  while (group.generation == generation) {
    threads_[current_].ready = false;
    suspend();
  }
  group.unread[generation & 1] &= ~(1u << lane);
  return group.row[generation & 1];
}

void Block::grid_barrier() {
  barrier(0, nullptr);
  unsigned first = 0;
  while (!threads_[first].running) ++first;
  if (current_ == first) wait_for_all_blocks();
  barrier(0, nullptr);
}

unsigned thread_rank() { return Block::current_block()->rank(); }
void block_barrier(const void* site) { Block::current_block()->barrier(0, site); }
int block_sum(int value, const void* site) { return Block::current_block()->barrier(value, site); }
void grid_barrier() { Block::current_block()->grid_barrier(); }
const std::uint64_t* exchange(unsigned mask, std::uint64_t value) {
  return Block::current_block()->exchange(mask, value);
}
const std::uint64_t* exchange_words(unsigned mask, const std::uint64_t (&words)[3]) {
  return Block::current_block()->exchange(mask, 0, words);
}
unsigned live_lanes() { return Block::current_block()->live_lanes(); }
void yield() { Block::current_block()->yield(); }
constexpr unsigned kStaticAt = 1U << 10, kDynamicAt = 1U << 24;

unsigned shared_address(const void* p) {
  const char* at = static_cast<const char*>(p);
  const auto [begin, end] = static_shared();
  if (at >= begin && at < end) return kStaticAt + static_cast<unsigned>(at - begin);
  const char* dynamic = static_cast<const char*>(Block::current_block()->shared());
  if (dynamic == nullptr || at < dynamic || at > dynamic + Block::current_block()->shared_bytes())
    stop("illegal_access", "the shared address of something that is not in shared memory");
  return kDynamicAt + static_cast<unsigned>(at - dynamic);
}

void* shared_at(unsigned address) {
  if (address >= kDynamicAt) return static_cast<char*>(Block::current_block()->shared()) + (address - kDynamicAt);
  return static_shared().first + (address - kStaticAt);
}

void* dynamic_shared() { return Block::current_block()->shared(); }
void stop(const char* kind, const char* message) { end_program(kind, message, line_of(__builtin_return_address(0))); }

void atomic_done() {
  static thread_local unsigned count = 0;
  if (++count % 16 == 0) yield();
}

}  // namespace kagent::emulate
