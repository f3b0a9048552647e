#include <kagent.cuh>
namespace a::b { namespace {
extern __shared__ __align__(16) unsigned char raw[];
} }
extern "C" {
template <int n> __global__ void k(float* x) {
  extern __shared__ float
    tile[];  // extern __shared__ int no[];
  tile[threadIdx.x] = x[1'000];
  __syncthreads();
}
}
