#pragma once
#include <cuda_fp16.h>
/* a
 comment */ #include <cub/block/block_reduce.cuh>
#include "../../etc/passwd"
# 12 "other.cu"
#line 5
// __DATE__
const char* s = "/* // \" */";
__global__ void k() { int n = 1'000; char c = '"'; }
