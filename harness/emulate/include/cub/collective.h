// cub's block and warp primitives for the CPU, in their plainest form: every thread shows its items, each works out its
// result.
#pragma once

#include <type_traits>

namespace cub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

// Threads of a block side by side: `shown` holds one item each between two barriers.
template <class T, int Threads>
struct Board {
  struct TempStorage {
    alignas(16) unsigned char shown[sizeof(T) * Threads];
  };
  template <class Work>
  static auto with_all(TempStorage& storage, const T& mine, Work work) {
    auto* shown = reinterpret_cast<T*>(storage.shown);
    __syncthreads();
    shown[kagent::emulate::thread_rank()] = mine;
    __syncthreads();
    auto result = work(shown, kagent::emulate::thread_rank());
    __syncthreads();
    return result;
  }
  static TempStorage& own() {
    static thread_local TempStorage storage;
    return storage;
  }
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0>
class BlockReduce {
  using All = Board<T, X * Y * Z>;

 public:
  using TempStorage = typename All::TempStorage;
  BlockReduce() : storage_(All::own()) {}
  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}
  template <class Op>
  T Reduce(T v, Op op, int valid = X * Y * Z) {
    return All::with_all(storage_, v, [&](T* all, unsigned) {
      T result = all[0];
      for (int i = 1; i < valid; ++i) result = op(result, all[i]);
      return result;
    });
  }
  template <int Items, class Op>
  T Reduce(T (&v)[Items], Op op) {
    T mine = v[0];
    for (int i = 1; i < Items; ++i) mine = op(mine, v[i]);
    return Reduce(mine, op);
  }
  T Sum(T v, int valid = X * Y * Z) { return Reduce(v, cub::Sum(), valid); }
  template <int Items>
  T Sum(T (&v)[Items]) {
    return Reduce(v, cub::Sum());
  }

 private:
  TempStorage& storage_;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0>
class BlockScan {
  using All = Board<T, X * Y * Z>;
  static constexpr int kThreads = X * Y * Z;

 public:
  using TempStorage = typename All::TempStorage;
  BlockScan() : storage_(All::own()) {}
  explicit BlockScan(TempStorage& storage) : storage_(storage) {}
  template <class Op>
  void InclusiveScan(T v, T& out, Op op, T& total) {
    const auto both = All::with_all(storage_, v, [&](T* all, unsigned me) {
      struct {
        T mine, total;
      } r = {all[0], all[0]};
      for (int i = 1; i < kThreads; ++i) {
        r.total = op(r.total, all[i]);
        if (i <= static_cast<int>(me)) r.mine = r.total;
      }
      return r;
    });
    out = both.mine;
    total = both.total;
  }
  template <class Op>
  void InclusiveScan(T v, T& out, Op op) {
    T total;
    InclusiveScan(v, out, op, total);
  }
  template <class Op>
  void ExclusiveScan(T v, T& out, T first, Op op, T& total) {
    out = All::with_all(storage_, v, [&](T* all, unsigned me) {
      T sum = first;
      for (unsigned i = 0; i < me; ++i) sum = op(sum, all[i]);
      total = all[0];
      for (int i = 1; i < kThreads; ++i) total = op(total, all[i]);
      return sum;
    });
  }
  template <class Op>
  void ExclusiveScan(T v, T& out, T first, Op op) {
    T total;
    ExclusiveScan(v, out, first, op, total);
  }
  void InclusiveSum(T v, T& out) { InclusiveScan(v, out, cub::Sum()); }
  void InclusiveSum(T v, T& out, T& total) { InclusiveScan(v, out, cub::Sum(), total); }
  void ExclusiveSum(T v, T& out) { ExclusiveScan(v, out, T{}, cub::Sum()); }
  void ExclusiveSum(T v, T& out, T& total) { ExclusiveScan(v, out, T{}, cub::Sum(), total); }

 private:
  TempStorage& storage_;
};

template <class T, int Lanes = 32, int = 0>
class WarpReduce {
 public:
  struct TempStorage {
    unsigned char nothing;
  };
  explicit WarpReduce(TempStorage&) {}
  template <class Op>
  T Reduce(T v, Op op, int valid = Lanes) {
    const unsigned me = kagent::emulate::lane() % Lanes;
    for (unsigned o = 1; o < Lanes; o *= 2) {
      const T other = __shfl_down_sync(mask(), v, o, Lanes);
      if (static_cast<int>(me + o) < valid) v = op(v, other);
    }
    return v;
  }
  T Sum(T v, int valid = Lanes) { return Reduce(v, cub::Sum(), valid); }

 private:
  static unsigned mask() {
    return (Lanes == 32 ? 0xffffffffu : (1u << Lanes % 32) - 1) << kagent::emulate::lane() / Lanes * Lanes;
  }
};

template <class T, int Lanes = 32, int = 0>
class WarpScan {
 public:
  struct TempStorage {
    unsigned char nothing;
  };
  explicit WarpScan(TempStorage&) {}
  template <class Op>
  void InclusiveScan(T v, T& out, Op op) {
    const unsigned me = kagent::emulate::lane() % Lanes;
    const unsigned mask = (Lanes == 32 ? 0xffffffffu : (1u << Lanes % 32) - 1)
                          << kagent::emulate::lane() / Lanes * Lanes;
    for (unsigned o = 1; o < Lanes; o *= 2) {
      const T before = __shfl_up_sync(mask, v, o, Lanes);
      if (me >= o) v = op(before, v);
    }
    out = v;
  }
  void InclusiveSum(T v, T& out) { InclusiveScan(v, out, cub::Sum()); }
  void ExclusiveSum(T v, T& out) {
    T all;
    InclusiveScan(v, all, cub::Sum());
    out = static_cast<T>(all - v);
  }
};

}  // namespace cub
