// Before everything else in an emulated answer: CUDA's language, runtime and functions for a C++20 compiler.
#pragma once

#include <vector_functions.h>
#include <vector_types.h>

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

// CUDA's own headers define some of these for host compilers.
#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#undef __managed__
#undef __grid_constant__
#undef __shared__
#undef __forceinline__
#undef __noinline__
#undef __launch_bounds__
#undef __align__
#undef __inline__
#undef __builtin_align__
#undef __cluster_dims__
#undef __restrict__

#include "kagent_emulate/atomic.h"
#include "kagent_emulate/language.h"
#include "kagent_emulate/math.h"
#include "kagent_emulate/runtime.h"
#include "kagent_emulate/warp.h"

#define __CUDA_ARCH__ 900
using uchar = unsigned char;
