// NVIDIA's own header, read as a host compiler reads it.
#pragma once
#pragma push_macro("__CUDA_ARCH__")
#undef __CUDA_ARCH__
#include_next <cuda_fp16.h>
#pragma pop_macro("__CUDA_ARCH__")
