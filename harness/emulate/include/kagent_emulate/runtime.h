// What emulated kernels ask of the runtime (harness/emulate/runtime): who am I, wait for the others, stop.
//
// A CUDA thread is a fiber; a block is an operating-system thread's, which runs its fibers in turn; several blocks run
// at a time. Shared memory is the operating-system thread's own (thread_local).
#pragma once

#include <cstddef>
#include <cstdint>

struct kagent_index {
  unsigned x, y, z;
  operator uint3() const { return {x, y, z}; }
  operator dim3() const { return dim3(x, y, z); }
};
extern thread_local kagent_index threadIdx, blockIdx, blockDim, gridDim;
static constexpr int warpSize = 32;

namespace kagent::emulate {

// Linear number of this thread in its block.
unsigned thread_rank();
inline unsigned lane() { return thread_rank() & 31; }

// Until all threads of the block that still run are here.
void block_barrier(const void* site);
// The same, and sums `value` over them.
int block_sum(int value, const void* site);
// Until all blocks of a cooperative launch are here.
void grid_barrier();

// Publishes `value` and waits for all lanes of `mask` that still run. The row holds what each lane published and, as
// its 33rd, the lanes that took part; it is to be read before anything else waits.
const std::uint64_t* exchange(unsigned mask, std::uint64_t value);
// The same with three words a lane, which follow the row: lane l's begin at kWide + 3 * l.
inline constexpr unsigned kWide = 33;
const std::uint64_t* exchange_words(unsigned mask, const std::uint64_t (&words)[3]);
// Lanes of this warp that have not returned.
unsigned live_lanes();

// Lets other threads of the block run: for loops that wait for them.
void yield();
// Ends the launch with this outcome; does not return.
[[noreturn]] void stop(const char* kind, const char* message);

void* dynamic_shared();
// Shared memory has 32-bit addresses of its own, which inline PTX counts in.
unsigned shared_address(const void* p);
void* shared_at(unsigned address);
// Every so many atomic operations a thread lets the others run, so that a thread may wait for another by atomics.
void atomic_done();

// Accesses that are no races: atomics, and what a shim does on a thread's behalf. Does nothing outside the checking
// build.
struct Unchecked {
  Unchecked();
  ~Unchecked();
};

template <class T>
std::uint64_t bits_of(T value) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// Calls a kernel with arguments that lie at `arguments`.
using Body = void (*)(void** arguments);
struct Kernel {
  const char* name;
  Body body;
  unsigned parameters;
};
template <auto F>
struct Caller;
template <class... A, void (*F)(A...)>
struct Caller<F> {
  template <std::size_t... I>
  static void call(void** a, std::index_sequence<I...>) {
    F(*static_cast<std::remove_reference_t<A>*>(a[I])...);
  }
  static void body(void** a) { call(a, std::index_sequence_for<A...>{}); }
  static constexpr unsigned kParameters = sizeof...(A);
};

}  // namespace kagent::emulate

// The program's own (written by translate.cpp).
extern const kagent::emulate::Kernel kagent_kernels[];
extern const unsigned kagent_kernel_count;
extern const bool kagent_fibers;  // some kernel waits for other threads
