// cooperative_groups for the CPU: blocks, tiles, coalesced threads and grids. Clusters are not emulable.
#pragma once

#include <type_traits>

namespace cooperative_groups {

struct thread_group {
  unsigned mask = 0;  // of a warp's lanes; 0: the whole block
  void sync() const {
    mask == 0 ? kagent::emulate::block_barrier(nullptr) : static_cast<void>(kagent::emulate::exchange(mask, 0));
  }
  unsigned size() const {
    return mask == 0 ? blockDim.x * blockDim.y * blockDim.z : static_cast<unsigned>(__builtin_popcount(mask));
  }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return mask == 0 ? kagent::emulate::thread_rank()
                     : static_cast<unsigned>(__builtin_popcount(mask & ((1u << kagent::emulate::lane()) - 1)));
  }
};

struct thread_block : thread_group {
  static void sync() { kagent::emulate::block_barrier(nullptr); }
  static unsigned thread_rank() { return kagent::emulate::thread_rank(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

struct grid_group {
  static void sync() { kagent::emulate::grid_barrier(); }
  static bool is_valid() { return true; }
  static unsigned long long size() {
    return 1ull * gridDim.x * gridDim.y * gridDim.z * blockDim.x * blockDim.y * blockDim.z;
  }
  static unsigned long long num_threads() { return size(); }
  static unsigned long long block_rank() {
    return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
  }
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long thread_rank() {
    return block_rank() * (blockDim.x * blockDim.y * blockDim.z) + kagent::emulate::thread_rank();
  }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
};
inline grid_group this_grid() { return {}; }

// Lanes of one warp under a mask; rank r is the r-th lane of it.
struct lanes_group : thread_group {
  unsigned lane_of(unsigned rank) const {
    unsigned rest = mask;
    for (unsigned i = 0; i < rank && rest != 0; ++i) rest &= rest - 1;
    return rest != 0 ? static_cast<unsigned>(__builtin_ctz(rest)) : kagent::emulate::lane();
  }
  template <class T>
  T shfl(T v, int rank) const {
    return kagent::emulate::shuffle(mask, v, lane_of(static_cast<unsigned>(rank) % size()));
  }
  template <class T>
  T shfl_up(T v, unsigned by) const {
    return kagent::emulate::shuffle(mask, v,
                                    thread_rank() >= by ? lane_of(thread_rank() - by) : kagent::emulate::lane());
  }
  template <class T>
  T shfl_down(T v, unsigned by) const {
    return kagent::emulate::shuffle(
        mask, v, thread_rank() + by < size() ? lane_of(thread_rank() + by) : kagent::emulate::lane());
  }
  template <class T>
  T shfl_xor(T v, unsigned with) const {
    return kagent::emulate::shuffle(
        mask, v, (thread_rank() ^ with) < size() ? lane_of(thread_rank() ^ with) : kagent::emulate::lane());
  }
  unsigned ballot(int p) const {
    const unsigned votes = __ballot_sync(mask, p);
    unsigned packed = 0;
    for (unsigned r = 0; r < size(); ++r) packed |= (votes >> lane_of(r) & 1) << r;
    return packed;
  }
  int any(int p) const { return __any_sync(mask, p); }
  int all(int p) const { return __all_sync(mask, p); }
};

template <unsigned Size, class Parent = thread_block>
struct thread_block_tile : lanes_group {
  static_assert(Size <= 32, "not emulable: tiles of more than a warp");
  static constexpr unsigned kSize = Size;
  static unsigned size() { return Size; }
  static unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return kagent::emulate::lane() % Size; }
  static unsigned meta_group_rank() { return kagent::emulate::thread_rank() / Size; }
  static unsigned meta_group_size() { return (blockDim.x * blockDim.y * blockDim.z + Size - 1) / Size; }
};
using coalesced_group = lanes_group;

template <unsigned Size, class Group>
thread_block_tile<Size> tiled_partition(const Group&) {
  thread_block_tile<Size> tile;
  const unsigned first = kagent::emulate::lane() / Size * Size;
  tile.mask = (Size == 32 ? 0xffffffffu : (1u << Size % 32) - 1) << first;
  return tile;
}
inline coalesced_group coalesced_threads() KAGENT_NOT_EMULABLE("coalesced_threads()");
struct cluster_group;
cluster_group this_cluster() KAGENT_NOT_EMULABLE("clusters");

template <class Group>
void sync(const Group& group) {
  group.sync();
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

template <class Group, class T, class Op>
T reduce(const Group& group, T v, Op op) {
  for (unsigned o = group.size() / 2; o > 0; o /= 2) v = op(v, group.shfl_xor(v, o));
  return v;
}
template <class Group, class T, class Op>
T inclusive_scan(const Group& group, T v, Op op) {
  for (unsigned o = 1; o < group.size(); o *= 2) {
    const T before = group.shfl_up(v, o);
    if (group.thread_rank() >= o) v = op(before, v);
  }
  return v;
}
template <class Group, class T>
T inclusive_scan(const Group& group, T v) {
  return inclusive_scan(group, v, plus<T>());
}
template <class Group, class T, class Op>
T exclusive_scan(const Group& group, T v, Op op) {
  const T all = group.shfl_up(inclusive_scan(group, v, op), 1);
  return group.thread_rank() == 0 ? T{} : all;
}
template <class Group, class T>
T exclusive_scan(const Group& group, T v) {
  return exclusive_scan(group, v, plus<T>());
}

// Copies by all threads of the group; wait() is its barrier.
template <class Group, class T, class N>
void memcpy_async(const Group& group, T* to, const T* from, const N& bytes) {
  const auto count = static_cast<unsigned>(bytes / sizeof(T));
  for (unsigned i = group.thread_rank(); i < count; i += group.size()) to[i] = from[i];
}
template <class Group>
void wait(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
