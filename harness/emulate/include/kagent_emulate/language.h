// CUDA's words for a C++ compiler.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
#define __maxnreg__(...)
#define __inline__ inline
#define __builtin_align__(n) __attribute__((aligned(n)))
// Named by the compiler where it is used: "call to ... declared with attribute error: not emulable: ...".
#define KAGENT_NOT_EMULABLE(why) __attribute__((error("not emulable: " why)))
#define __cluster_dims__(...) KAGENT_NOT_EMULABLE("clusters")
