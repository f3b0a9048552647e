#include "harness/compile/shims.h"

namespace kagent::compile {

const std::string& prelude() {
  // int64_t is long long, as in NVIDIA's own cuda/std/cstdint, so that both can be included.
  static const std::string kText = R"(#pragma once
using int8_t = signed char; using int16_t = signed short; using int32_t = signed int; using int64_t = signed long long;
using uint8_t = unsigned char; using uint16_t = unsigned short; using uint32_t = unsigned int; using uint64_t = unsigned long long;
using intptr_t = int64_t; using uintptr_t = uint64_t;
typedef unsigned int uint; typedef unsigned char uchar; typedef unsigned short ushort;
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef FLT_MAX
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#endif
#ifndef INT_MAX
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LLONG_MAX 9223372036854775807LL
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_2_SQRTPI 1.12837916709551257390
#endif
__device__ __forceinline__ long long min(int a, long long b) { return a < b ? a : b; }
__device__ __forceinline__ long long min(long long a, int b) { return a < b ? a : b; }
__device__ __forceinline__ long long max(int a, long long b) { return a > b ? a : b; }
__device__ __forceinline__ long long max(long long a, int b) { return a > b ? a : b; }
namespace std {
template <class T> __host__ __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> __host__ __device__ constexpr void swap(T& a, T& b) { T c = a; a = b; b = c; }
using ::fabs; using ::fabsf; using ::sqrt; using ::sqrtf; using ::exp; using ::expf; using ::log; using ::logf; using ::pow; using ::powf;
using ::tanh; using ::tanhf; using ::sin; using ::cos; using ::floor; using ::ceil; using ::fmax; using ::fmin; using ::fmaxf; using ::fminf; using ::erf; using ::erff;
using ::isnan; using ::isinf; using ::isfinite; using ::abs;
template <class T, T v> struct integral_constant { static constexpr T value = v; constexpr operator T() const { return v; } };
using true_type = integral_constant<bool, true>; using false_type = integral_constant<bool, false>;
template <class A, class B> struct is_same : false_type {}; template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <bool c, class A, class B> struct conditional { using type = A; }; template <class A, class B> struct conditional<false, A, B> { using type = B; };
template <bool c, class A, class B> using conditional_t = typename conditional<c, A, B>::type;
template <bool c, class T = void> struct enable_if {}; template <class T> struct enable_if<true, T> { using type = T; };
template <bool c, class T = void> using enable_if_t = typename enable_if<c, T>::type;
template <class T> struct remove_reference { using type = T; }; template <class T> struct remove_reference<T&> { using type = T; }; template <class T> struct remove_reference<T&&> { using type = T; };
template <class T> struct remove_const { using type = T; }; template <class T> struct remove_const<const T> { using type = T; };
template <class T> struct numeric_limits;
template <> struct numeric_limits<float> { static constexpr float max() { return FLT_MAX; } static constexpr float min() { return FLT_MIN; } static constexpr float lowest() { return -FLT_MAX; }
  static constexpr float epsilon() { return FLT_EPSILON; } static __device__ float infinity() { return INFINITY; } static __device__ float quiet_NaN() { return NAN; } };
template <> struct numeric_limits<double> { static constexpr double max() { return DBL_MAX; } static constexpr double min() { return DBL_MIN; } static constexpr double lowest() { return -DBL_MAX; }
  static constexpr double epsilon() { return DBL_EPSILON; } };
template <> struct numeric_limits<int> { static constexpr int max() { return INT_MAX; } static constexpr int min() { return INT_MIN; } static constexpr int lowest() { return INT_MIN; } };
template <> struct numeric_limits<unsigned> { static constexpr unsigned max() { return UINT_MAX; } static constexpr unsigned min() { return 0; } };
template <> struct numeric_limits<long long> { static constexpr long long max() { return LLONG_MAX; } static constexpr long long min() { return -LLONG_MAX - 1; } };
}  // namespace std
)";
  return kText;
}

std::vector<std::pair<std::string, std::string>> shim_headers(const std::string& kagent_cuh) {
  std::vector<std::pair<std::string, std::string>> headers = {{"kagent.cuh", kagent_cuh},
                                                              {"kagent_prelude.h", prelude()}};
  for (const char* name :
       {"cmath",  "math.h",      "cstdint",   "stdint.h", "cfloat",  "float.h",  "climits", "limits.h",
        "limits", "type_traits", "algorithm", "utility",  "cstddef", "stddef.h", "cstdlib", "stdlib.h",
        "cstdio", "stdio.h",     "cassert",   "assert.h", "cstring", "string.h", "numeric"}) {
    headers.emplace_back(name, "#pragma once\n");  // the prelude has what device code needs of it
  }
  const auto refuse = [&](std::initializer_list<const char*> names, const std::string& what) {
    for (const char* name : names) headers.emplace_back(name, "#error \"" + std::string(name) + ": " + what + "\"\n");
  };
  refuse(
      {"torch/extension.h", "torch/torch.h", "torch/types.h", "ATen/ATen.h", "ATen/cuda/CUDAContext.h",
       "c10/cuda/CUDAException.h", "c10/cuda/CUDAGuard.h", "c10/cuda/CUDAStream.h", "pybind11/pybind11.h", "Python.h"},
      "this block is device code only, without PyTorch: launch kernels by kg.launch in the python block");
  refuse({"iostream", "string", "memory", "map", "functional", "fstream", "sstream", "stdexcept", "thread", "mutex",
          "chrono"},
         "host headers do not exist here: this block is device code only");
  refuse({"vector", "array", "tuple", "optional"},
         "not for device code; use plain arrays, or cuda/std/array, cuda/std/tuple, cuda/std/optional");
  refuse({"cub/cub.cuh", "thrust/device_vector.h"},
         "does not compile under NVRTC: include cub/block/... or cub/warp/... instead");
  refuse({"cublas_v2.h", "cudnn.h", "curand.h", "cutlass/cutlass.h"},
         "libraries cannot be called from here: use torch calls in the python block");
  return headers;
}

}  // namespace kagent::compile
