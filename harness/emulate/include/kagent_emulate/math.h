// Math functions and intrinsics that C++ lacks, each as exact as the CPU's own (a GPU's fast ones are within a few ulp
// of them).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kagent_emulate/runtime.h"

template <class A, class B, class = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>>
constexpr std::common_type_t<A, B> min(A a, B b) {
  return a != a ? b : b < a ? b : a;
}
template <class A, class B, class = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>>
constexpr std::common_type_t<A, B> max(A a, B b) {
  return a != a ? b : a < b ? b : a;
}
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

// Macros: glibc declares functions of these names that it does not have.
#define __expf(x) std::exp(static_cast<float>(x))
#define __exp10f(x) std::pow(10.0f, static_cast<float>(x))
#define __logf(x) std::log(static_cast<float>(x))
#define __log2f(x) std::log2(static_cast<float>(x))
#define __log10f(x) std::log10(static_cast<float>(x))
#define __powf(x, y) std::pow(static_cast<float>(x), static_cast<float>(y))
#define __sinf(x) std::sin(static_cast<float>(x))
#define __cosf(x) std::cos(static_cast<float>(x))
#define __tanf(x) std::tan(static_cast<float>(x))
#define __tanhf(x) std::tanh(static_cast<float>(x))
#define __sincosf(x, s, c) (*(s) = std::sin(static_cast<float>(x)), *(c) = std::cos(static_cast<float>(x)))
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float rcbrtf(float x) { return 1.0f / std::cbrt(x); }
inline float sinpif(float x) { return std::sin(3.14159265358979323846f * x); }
inline float cospif(float x) { return std::cos(3.14159265358979323846f * x); }
inline float normcdff(float x) { return 0.5f * std::erfc(-x * 0.70710678118654752f); }
inline float fdividef(float a, float b) { return a / b; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float x) { return x != x || x < 0 ? 0.0f : x > 1 ? 1.0f : x; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __frsqrt_rn(float a) { return 1.0f / std::sqrt(a); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fadd_rn(float a, float b) {
  volatile float r = a + b;
  return r;
}
inline float __fsub_rn(float a, float b) {
  volatile float r = a - b;
  return r;
}
inline float __fmul_rn(float a, float b) {
  volatile float r = a * b;
  return r;
}
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dadd_rn(double a, double b) {
  volatile double r = a + b;
  return r;
}
inline double __dmul_rn(double a, double b) {
  volatile double r = a * b;
  return r;
}
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }

template <class To, class From>
To kagent_bits(From v) {
  return kagent::emulate::from_bits<To>(kagent::emulate::bits_of(v));
}
inline int __float_as_int(float f) { return kagent_bits<int>(f); }
inline unsigned __float_as_uint(float f) { return kagent_bits<unsigned>(f); }
inline float __int_as_float(int i) { return kagent_bits<float>(i); }
inline float __uint_as_float(unsigned i) { return kagent_bits<float>(i); }
inline long long __double_as_longlong(double d) { return kagent_bits<long long>(d); }
inline double __longlong_as_double(long long i) { return kagent_bits<double>(i); }
inline int __float2int_rn(float x) { return static_cast<int>(std::nearbyint(x)); }
inline int __float2int_rz(float x) { return static_cast<int>(x); }
inline int __float2int_rd(float x) { return static_cast<int>(std::floor(x)); }
inline int __float2int_ru(float x) { return static_cast<int>(std::ceil(x)); }
inline unsigned __float2uint_rn(float x) { return static_cast<unsigned>(std::nearbyint(x)); }
inline unsigned __float2uint_rz(float x) { return static_cast<unsigned>(x); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x != 0 ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x != 0 ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i) r |= (x >> i & 1u) << (31 - i);
  return r;
}
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline int __mul24(int a, int b) { return a * b; }
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
  return s % 32 == 0 ? hi : hi << s % 32 | lo >> (32 - s % 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
  return s % 32 == 0 ? lo : lo >> s % 32 | hi << (32 - s % 32);
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
  const unsigned long long all = static_cast<unsigned long long>(b) << 32 | a;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned pick = s >> 4 * i & 15;
    unsigned byte = static_cast<unsigned>(all >> 8 * (pick & 7)) & 255;
    if ((pick & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    r |= byte << 8 * i;
  }
  return r;
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c += static_cast<signed char>(a >> 8 * i) * static_cast<signed char>(b >> 8 * i);
  return c;
}

[[noreturn]] inline void __trap() { kagent::emulate::stop("trap", "the kernel called __trap()"); }
inline std::size_t __cvta_generic_to_shared(const void* p) { return kagent::emulate::shared_address(p); }
inline void* __cvta_shared_to_generic(std::size_t address) {
  return kagent::emulate::shared_at(static_cast<unsigned>(address));
}
inline std::uint64_t __cvta_generic_to_global(const void* p) { return reinterpret_cast<std::uint64_t>(p); }
#undef assert
#define assert(c) ((c) ? void() : kagent::emulate::stop("assert", "an assertion of the kernel failed: " #c))
