// What harness/emulate/ptx.cpp makes of inline PTX. Shared addresses are 32-bit numbers, as there.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kagent_emulate/tensor_core.h"

namespace kagent::ptx {

// Words of a register, whatever its C++ type.
template <class T>
unsigned word(T v) {
  return static_cast<unsigned>(kagent::emulate::bits_of(v));
}
template <class D>
D from_bits_of(unsigned bits) {
  return kagent::emulate::from_bits<D>(bits);
}
template <class A>
auto offset(A address, unsigned bytes) {
  if constexpr (std::is_pointer_v<A>) {
    return reinterpret_cast<const char*>(address) + bytes;
  } else {
    return address + bytes;
  }
}
template <class T>
T* shared(unsigned long long address) {
  return static_cast<T*>(kagent::emulate::shared_at(static_cast<unsigned>(address)));
}
template <class T>
T* global(const void* p) {
  return static_cast<T*>(const_cast<void*>(p));
}
template <class T>
T* global(unsigned long long p) {
  return reinterpret_cast<T*>(p);
}

template <class D>
void cvt_rna_tf32(D& d, float a) {
  d = from_bits_of<D>(kagent::emulate::rounded_to_tf32(a));
}
template <class D, class A, class B, class C>
void mma_m16n8k8_tf32(D& d0, D& d1, D& d2, D& d3, A a0, A a1, A a2, A a3, B b0, B b1, C c0, C c1, C c2, C c3) {
  float d[4] = {c0, c1, c2, c3};
  const unsigned a[4] = {word(a0), word(a1), word(a2), word(a3)}, b[2] = {word(b0), word(b1)};
  kagent::emulate::mma_m16n8k8_tf32(d, a, b);
  d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];
}
template <class T, class D, class A, class B, class C>
void mma_m16n8k16(D& d0, D& d1, D& d2, D& d3, A a0, A a1, A a2, A a3, B b0, B b1, C c0, C c1, C c2, C c3) {
  float d[4] = {c0, c1, c2, c3};
  const unsigned a[4] = {word(a0), word(a1), word(a2), word(a3)}, b[2] = {word(b0), word(b1)};
  kagent::emulate::mma_m16n8k16<T>(d, a, b);
  d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];
}
template <class... X>
void mma_m16n8k16_f16(X&&... x) {
  mma_m16n8k16<__half>(x...);
}
template <class... X>
void mma_m16n8k16_bf16(X&&... x) {
  mma_m16n8k16<__nv_bfloat16>(x...);
}

template <class G>
void cp_async(unsigned long long to, G from, unsigned bytes, unsigned given = 0xffffffffu) {
  char* p = shared<char>(to);
  const char* q = global<char>(from);
  for (unsigned i = 0; i < bytes; ++i) p[i] = i < given ? q[i] : '\0';
}
template <class D, class P>
void load_acquire(D& d, P p) {
  kagent::emulate::yield();
  d = static_cast<D>(__atomic_load_n(global<unsigned>(p), __ATOMIC_ACQUIRE));
}
template <class P, class V>
void store_release(P p, V v) {
  __atomic_store_n(global<unsigned>(p), static_cast<unsigned>(v), __ATOMIC_RELEASE);
}
template <class P, class V>
void red_add(P p, V v) {
  __atomic_fetch_add(global<unsigned>(p), static_cast<unsigned>(v), __ATOMIC_ACQ_REL);
}
template <class P>
void red_add_f32(P p, float v) {
  atomicAdd(global<float>(p), v);
}
template <class D, class P, class V>
void atom_add(D& d, P p, V v) {
  d = static_cast<D>(__atomic_fetch_add(global<unsigned>(p), static_cast<unsigned>(v), __ATOMIC_ACQ_REL));
}

// A barrier object (PTX ISA, "mbarrier"): 64 bits of shared memory. Bulk copies are done at once; what they write is
// nobody's, for the checking build, since the barrier and not __syncthreads() orders it.
struct Mbarrier {
  std::int16_t pending;
  std::int16_t expected;
  std::int32_t bytes_and_phase;  // bytes still to come * 2 + phase
};
inline void settle(Mbarrier& b) {
  if (b.pending > 0 || b.bytes_and_phase >> 1 != 0) return;
  b.pending = b.expected;
  b.bytes_and_phase ^= 1;
}
inline void mbarrier_init(unsigned long long bar, unsigned count) {
  const kagent::emulate::Unchecked unchecked;
  *shared<Mbarrier>(bar) = {static_cast<std::int16_t>(count), static_cast<std::int16_t>(count), 0};
}
inline void mbarrier_expect(unsigned long long bar, unsigned bytes) {
  const kagent::emulate::Unchecked unchecked;
  shared<Mbarrier>(bar)->bytes_and_phase += static_cast<std::int32_t>(bytes) * 2;
}
inline void mbarrier_arrive(unsigned long long bar, unsigned bytes = 0) {
  const kagent::emulate::Unchecked unchecked;
  Mbarrier& b = *shared<Mbarrier>(bar);
  b.bytes_and_phase += static_cast<std::int32_t>(bytes) * 2;
  --b.pending;
  settle(b);
}
template <class D>
void mbarrier_try_wait(D& done, unsigned long long bar, unsigned parity) {
  kagent::emulate::yield();
  const kagent::emulate::Unchecked unchecked;
  done = (static_cast<unsigned>(shared<Mbarrier>(bar)->bytes_and_phase) & 1u) != (parity & 1u) ? 1 : 0;
}
template <class G>
void bulk_load(unsigned long long to, G from, unsigned bytes, unsigned long long bar, unsigned long long = 0) {
  const kagent::emulate::Unchecked unchecked;
  char* p = shared<char>(to);
  const char* q = global<char>(from);
  for (unsigned i = 0; i < bytes; ++i) p[i] = q[i];
  Mbarrier& b = *shared<Mbarrier>(bar);
  b.bytes_and_phase -= static_cast<std::int32_t>(bytes) * 2;
  settle(b);
}
template <class G>
void bulk_store(G to, unsigned long long from, unsigned bytes) {
  const kagent::emulate::Unchecked unchecked;
  char* p = global<char>(to);
  const char* q = shared<char>(from);
  for (unsigned i = 0; i < bytes; ++i) p[i] = q[i];
}

inline void ex2(float& d, float a) { d = std::exp2(a); }
inline void lg2(float& d, float a) { d = std::log2(a); }
inline void rcp(float& d, float a) { d = 1.0f / a; }
inline void rsqrt(float& d, float a) { d = 1.0f / std::sqrt(a); }
inline void sqrt(float& d, float a) { d = std::sqrt(a); }
inline void tanh(float& d, float a) { d = std::tanh(a); }
inline void sin(float& d, float a) { d = std::sin(a); }
inline void cos(float& d, float a) { d = std::cos(a); }
inline void fma(float& d, float a, float b, float c) { d = std::fma(a, b, c); }
template <class D, class A>
void mov(D& d, A a) {
  d = static_cast<D>(a);
}

// Lane l's address is row l % 8 of matrix l / 8; lane l gets two neighbours of row l / 4 of each (PTX ISA, ldmatrix).
template <bool Transposed, class... R>
void ldmatrix_words(unsigned long long address, R&... r) {
  const std::uint64_t* row =
      kagent::emulate::exchange(0xffffffffu, reinterpret_cast<std::uint64_t>(shared<char>(address)));
  std::uint64_t rows[32];
  for (int i = 0; i < 32; ++i) rows[i] = row[i];
  const unsigned l = kagent::emulate::lane();
  unsigned m = 0;
  const auto one = [&](auto& into) {
    unsigned short half[2];
    for (unsigned k = 0; k < 2; ++k) {
      const unsigned at = Transposed ? 2 * (l % 4) + k : l / 4, column = Transposed ? l / 4 : 2 * (l % 4) + k;
      half[k] = reinterpret_cast<const unsigned short*>(rows[m * 8 + at])[column];
    }
    into = static_cast<std::remove_reference_t<decltype(into)>>(half[0] | static_cast<unsigned>(half[1]) << 16);
    ++m;
  };
  (one(r), ...);
  kagent::emulate::exchange(0xffffffffu, 0);
}
template <bool T, class R>
void ldmatrix(R& a, unsigned long long p) {
  ldmatrix_words<T>(p, a);
}
template <bool T, class R>
void ldmatrix(R& a, R& b, unsigned long long p) {
  ldmatrix_words<T>(p, a, b);
}
template <bool T, class R>
void ldmatrix(R& a, R& b, R& c, R& d, unsigned long long p) {
  ldmatrix_words<T>(p, a, b, c, d);
}

template <class R, class P>
void load(R& a, P p) {
  a = *global<R>(p);
}
template <class R, class P>
void load(R& a, R& b, P p) {
  a = global<R>(p)[0], b = global<R>(p)[1];
}
template <class R, class P>
void load(R& a, R& b, R& c, R& d, P p) {
  a = global<R>(p)[0], b = global<R>(p)[1], c = global<R>(p)[2], d = global<R>(p)[3];
}
template <class R, class P>
void store(P p, R a) {
  *global<R>(p) = a;
}
template <class R, class P>
void store(P p, R a, R b) {
  global<R>(p)[0] = a, global<R>(p)[1] = b;
}
template <class R, class P>
void store(P p, R a, R b, R c, R d) {
  global<R>(p)[0] = a, global<R>(p)[1] = b, global<R>(p)[2] = c, global<R>(p)[3] = d;
}
template <class R>
void load_shared(R& a, unsigned long long p) {
  a = *shared<R>(p);
}
template <class R>
void load_shared(R& a, R& b, unsigned long long p) {
  a = shared<R>(p)[0], b = shared<R>(p)[1];
}
template <class R>
void load_shared(R& a, R& b, R& c, R& d, unsigned long long p) {
  a = shared<R>(p)[0], b = shared<R>(p)[1], c = shared<R>(p)[2], d = shared<R>(p)[3];
}
template <class R>
void store_shared(unsigned long long p, R a) {
  *shared<R>(p) = a;
}
template <class R>
void store_shared(unsigned long long p, R a, R b) {
  shared<R>(p)[0] = a, shared<R>(p)[1] = b;
}
template <class R>
void store_shared(unsigned long long p, R a, R b, R c, R d) {
  shared<R>(p)[0] = a, shared<R>(p)[1] = b, shared<R>(p)[2] = c, shared<R>(p)[3] = d;
}

}  // namespace kagent::ptx
