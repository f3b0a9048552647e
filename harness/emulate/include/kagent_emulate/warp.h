// Barriers, shuffles, votes, match and warp reductions (CUDA C++ Programming Guide, "Warp Shuffle Functions" and the
// following).
#pragma once

#include <type_traits>

#include "kagent_emulate/runtime.h"

// A macro, so that the checking build can tell two barriers of one kernel apart.
#define __syncthreads() kagent_syncthreads()
__attribute__((noinline)) inline void kagent_syncthreads() {
  kagent::emulate::block_barrier(__builtin_return_address(0));
}
__attribute__((noinline)) inline int __syncthreads_count(int p) {
  return kagent::emulate::block_sum(p != 0, __builtin_return_address(0));
}
__attribute__((noinline)) inline int __syncthreads_or(int p) {
  return kagent::emulate::block_sum(p != 0, __builtin_return_address(0)) > 0;
}
__attribute__((noinline)) inline int __syncthreads_and(int p) {
  return kagent::emulate::block_sum(p == 0, __builtin_return_address(0)) == 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu) { kagent::emulate::exchange(mask, 0); }
inline void __threadfence() { kagent::emulate::atomic_done(); }
inline void __threadfence_block() { kagent::emulate::atomic_done(); }
inline void __threadfence_system() { kagent::emulate::atomic_done(); }
inline void __nanosleep(unsigned) { kagent::emulate::yield(); }
inline unsigned __activemask() { return kagent::emulate::live_lanes(); }

namespace kagent::emulate {
template <class T>
T shuffle(unsigned mask, T value, unsigned from) {
  if constexpr (sizeof(T) > 8) {
    struct Halves {
      std::uint64_t part[(sizeof(T) + 7) / 8];
    } halves = {};
    __builtin_memcpy(&halves, &value, sizeof value);
    for (auto& part : halves.part) part = shuffle(mask, part, from);
    __builtin_memcpy(&value, &halves, sizeof value);
    return value;
  } else {
    return from_bits<T>(exchange(mask, bits_of(value))[from]);
  }
}
}  // namespace kagent::emulate

template <class T>
T __shfl_sync(unsigned mask, T v, int from, int width = 32) {
  const unsigned me = kagent::emulate::lane(), low = me & ~static_cast<unsigned>(width - 1);
  return kagent::emulate::shuffle(mask, v, low | (static_cast<unsigned>(from) & static_cast<unsigned>(width - 1)));
}
template <class T>
T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32) {
  const unsigned me = kagent::emulate::lane(), at = me & static_cast<unsigned>(width - 1);
  return kagent::emulate::shuffle(mask, v, at >= by ? me - by : me);
}
template <class T>
T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32) {
  const unsigned me = kagent::emulate::lane(), at = me & static_cast<unsigned>(width - 1);
  return kagent::emulate::shuffle(mask, v, at + by < static_cast<unsigned>(width) ? me + by : me);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T v, int with, int width = 32) {
  const unsigned me = kagent::emulate::lane(), to = me ^ static_cast<unsigned>(with);
  // Lanes of later groups are out of reach, those of earlier ones are not.
  return kagent::emulate::shuffle(
      mask, v, (to & ~static_cast<unsigned>(width - 1)) <= (me & ~static_cast<unsigned>(width - 1)) ? to & 31 : me);
}

inline unsigned __ballot_sync(unsigned mask, int p) {
  const std::uint64_t* row = kagent::emulate::exchange(mask, 2u | (p != 0));
  unsigned votes = 0;
  for (unsigned i = 0; i < 32; ++i) votes |= static_cast<unsigned>(row[32] >> i & 1 && row[i] == 3) << i;
  return votes;
}
inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, !p) == 0; }
template <class T>
unsigned __match_any_sync(unsigned mask, T v) {
  const std::uint64_t mine = kagent::emulate::bits_of(v);
  const std::uint64_t* row = kagent::emulate::exchange(mask, mine);
  unsigned same = 0;
  for (unsigned i = 0; i < 32; ++i) same |= static_cast<unsigned>(row[32] >> i & 1 && row[i] == mine) << i;
  return same;
}
template <class T>
unsigned __match_all_sync(unsigned mask, T v, int* all) {
  const std::uint64_t mine = kagent::emulate::bits_of(v);
  const std::uint64_t* row = kagent::emulate::exchange(mask, mine);
  *all = 1;
  for (unsigned i = 0; i < 32; ++i) *all &= static_cast<int>((row[32] >> i & 1) == 0 || row[i] == mine);
  return *all != 0 ? static_cast<unsigned>(row[32]) : 0;
}

namespace kagent::emulate {
template <class T, class Op>
T reduce(unsigned mask, T v, Op op) {
  const std::uint64_t* row = exchange(mask, bits_of(v));
  bool first = true;
  T all{};
  for (unsigned i = 0; i < 32; ++i) {
    if ((row[32] >> i & 1) == 0) continue;
    all = first ? from_bits<T>(row[i]) : op(all, from_bits<T>(row[i]));
    first = false;
  }
  return all;
}
}  // namespace kagent::emulate
template <class T>
T __reduce_add_sync(unsigned m, T v) {
  return kagent::emulate::reduce(m, v, [](T a, T b) { return static_cast<T>(a + b); });
}
template <class T>
T __reduce_min_sync(unsigned m, T v) {
  return kagent::emulate::reduce(m, v, [](T a, T b) { return b < a ? b : a; });
}
template <class T>
T __reduce_max_sync(unsigned m, T v) {
  return kagent::emulate::reduce(m, v, [](T a, T b) { return a < b ? b : a; });
}
inline unsigned __reduce_and_sync(unsigned m, unsigned v) {
  return kagent::emulate::reduce(m, v, [](unsigned a, unsigned b) { return a & b; });
}
inline unsigned __reduce_or_sync(unsigned m, unsigned v) {
  return kagent::emulate::reduce(m, v, [](unsigned a, unsigned b) { return a | b; });
}
inline unsigned __reduce_xor_sync(unsigned m, unsigned v) {
  return kagent::emulate::reduce(m, v, [](unsigned a, unsigned b) { return a ^ b; });
}
