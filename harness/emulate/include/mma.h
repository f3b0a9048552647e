// nvcuda::wmma for the CPU. A fragment's elements are spread over the lanes in an order of our own: CUDA leaves it
// open.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kagent_emulate/tensor_core.h"

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

template <class T>
struct stored {
  using type = T;
};
template <>
struct stored<precision::tf32> {
  using type = float;
};

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  using element = typename stored<T>::type;
  static constexpr int kRows = std::is_same_v<Use, matrix_b> ? K : M;
  static constexpr int kColumns = std::is_same_v<Use, matrix_a> ? K : N;
  static constexpr int num_elements = kRows * kColumns / 32;
  element x[num_elements];
  using layout = Layout;
};

template <class F, class T>
void fill_fragment(F& f, T v) {
  for (auto& x : f.x) x = static_cast<typename F::element>(v);
}

// Element i of a lane is number lane * num_elements + i, row by row.
template <class Use, int M, int N, int K, class T, class Layout, class Memory>
void load(fragment<Use, M, N, K, T, Layout>& f, const Memory* p, unsigned leading, bool rows) {
  using F = fragment<Use, M, N, K, T, Layout>;
  for (int i = 0; i < F::num_elements; ++i) {
    const int e = static_cast<int>(kagent::emulate::lane()) * F::num_elements + i;
    const unsigned r = static_cast<unsigned>(e / F::kColumns), c = static_cast<unsigned>(e % F::kColumns);
    f.x[i] = static_cast<typename F::element>(p[rows ? r * leading + c : c * leading + r]);
  }
  kagent::emulate::exchange(0xffffffffu, 0);
}
template <class Use, int M, int N, int K, class T, class Layout, class Memory>
void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const Memory* p, unsigned leading) {
  load(f, p, leading, std::is_same_v<Layout, row_major>);
}
template <int M, int N, int K, class T, class Memory>
void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const Memory* p, unsigned leading, layout_t layout) {
  load(f, p, leading, layout == mem_row_major);
}
template <int M, int N, int K, class T, class Memory>
void store_matrix_sync(Memory* p, const fragment<accumulator, M, N, K, T>& f, unsigned leading, layout_t layout) {
  using F = fragment<accumulator, M, N, K, T>;
  for (int i = 0; i < F::num_elements; ++i) {
    const int e = static_cast<int>(kagent::emulate::lane()) * F::num_elements + i;
    const unsigned r = static_cast<unsigned>(e / N), c = static_cast<unsigned>(e % N);
    p[layout == mem_row_major ? r * leading + c : c * leading + r] = static_cast<Memory>(f.x[i]);
  }
  kagent::emulate::exchange(0xffffffffu, 0);
}
inline float __float_to_tf32(float x) { return __uint_as_float(kagent::emulate::rounded_to_tf32(x)); }

template <class T, class E>
float input(E v) {
  if constexpr (std::is_same_v<T, precision::tf32>) {
    return kagent::emulate::read_tf32(__float_as_uint(v));
  } else {
    return static_cast<float>(v);
  }
}

template <int M, int N, int K, class D, class T, class LA, class LB, class C>
void mma_sync(fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, T, LA>& a,
              const fragment<matrix_b, M, N, K, T, LB>& b, const fragment<accumulator, M, N, K, C>& c) {
  using A = fragment<matrix_a, M, N, K, T, LA>;
  using B = fragment<matrix_b, M, N, K, T, LB>;
  using F = fragment<accumulator, M, N, K, D>;
  struct Shown {
    const A* a;
    const B* b;
  } mine = {&a, &b};
  const std::uint64_t* row = kagent::emulate::exchange(0xffffffffu, reinterpret_cast<std::uint64_t>(&mine));
  const Shown* lanes[32];
  for (int i = 0; i < 32; ++i) lanes[i] = reinterpret_cast<const Shown*>(row[i]);
  float sums[F::num_elements];
  for (int i = 0; i < F::num_elements; ++i) {
    const int e = static_cast<int>(kagent::emulate::lane()) * F::num_elements + i;
    float sum = static_cast<float>(c.x[i]);
    for (int k = 0; k < K; ++k) {
      const int ea = e / N * K + k, eb = k * N + e % N;
      sum += input<T>(lanes[ea / A::num_elements]->a->x[ea % A::num_elements]) *
             input<T>(lanes[eb / B::num_elements]->b->x[eb % B::num_elements]);
    }
    sums[i] = sum;
  }
  kagent::emulate::exchange(0xffffffffu, 0);  // d may be c, and a or b may change next
  for (int i = 0; i < F::num_elements; ++i) d.x[i] = static_cast<typename F::element>(sums[i]);
}

}  // namespace nvcuda::wmma
