// One small kernel a feature of CUDA that the emulation knows, for the differential test (differential.py). All take x (1024
// floats), y (1024 floats, zero) and n = 1024. Above each: its launch, and whether both back ends must agree bit for bit.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include "kagent.cuh"

namespace cg = cooperative_groups;
__device__ unsigned g_counter;
__constant__ float kTable[4] = {1.0f, 2.0f, 4.0f, 8.0f};

// grid=4 block=256 exact
extern "C" __global__ void elementwise(const float* __restrict__ x, float* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 2.0f + 1.0f;
}
// grid=2,2 block=16,8,2 exact
extern "C" __global__ void indices(const float* x, float* y, int n) {
  const int b = blockIdx.y * gridDim.x + blockIdx.x;
  const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  y[b * 256 + t] = x[t] + threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.y + warpSize;
}
// grid=4 block=64 exact
extern "C" __global__ void vectors(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = reinterpret_cast<const float4*>(x)[i];
  const float2 w = make_float2(v.x + v.y, v.z - v.w);
  v = make_float4(w.x, w.y, v.x, v.w);
  reinterpret_cast<float4*>(y)[i] = v;
}
// grid=4 block=256 exact
extern "C" __global__ void static_shared(const float* x, float* y, int n) {
  __shared__ float tile[256];
  tile[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  y[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}
// grid=4 block=256 shared=2048 exact
extern "C" __global__ void dynamic_shared(const float* x, float* y, int n) {
  extern __shared__ __align__(16) float dynamic[];
  float* second = dynamic + 256;
  dynamic[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  second[255 - threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  y[blockIdx.x * 256 + threadIdx.x] = dynamic[threadIdx.x] - second[threadIdx.x];
}
// grid=1 block=256 exact
extern "C" __global__ void tree_sum(const float* x, float* y, int n) {
  __shared__ float part[256];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) sum += x[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = part[0];
}
// grid=2 block=128 exact
extern "C" __global__ void barrier_reductions(const float* x, float* y, int n) {
  const bool big = x[blockIdx.x * 128 + threadIdx.x] > 0.25f;
  const int count = __syncthreads_count(big);
  const int any = __syncthreads_or(big && threadIdx.x == 5);
  const int all = __syncthreads_and(threadIdx.x < 128);
  y[blockIdx.x * 128 + threadIdx.x] = count + 1000 * any + 2000 * all;
}
// grid=1 block=96 exact
extern "C" __global__ void early_exit(const float* x, float* y, int n) {
  __shared__ float part[96];
  if (threadIdx.x >= 70) return;
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = part[69 - threadIdx.x];
}
// grid=1 block=64 exact
extern "C" __global__ void shuffles(const float* x, float* y, int n) {
  const float v = x[threadIdx.x];
  float* out = y + threadIdx.x * 8;
  out[0] = __shfl_sync(0xffffffffu, v, 7);
  out[1] = __shfl_up_sync(0xffffffffu, v, 3);
  out[2] = __shfl_down_sync(0xffffffffu, v, 5);
  out[3] = __shfl_xor_sync(0xffffffffu, v, 9);
  out[4] = __shfl_sync(0xffffffffu, v, 3, 8);
  out[5] = __shfl_up_sync(0xffffffffu, v, 2, 8);
  out[6] = __shfl_down_sync(0xffffffffu, v, 6, 16);
  out[7] = static_cast<float>(__shfl_xor_sync(0xffffffffu, static_cast<long long>(threadIdx.x) << 33, 4, 16) >> 33);
}
// grid=1 block=64 exact
extern "C" __global__ void half_warps(const float* x, float* y, int n) {
  const unsigned mask = (threadIdx.x & 16) != 0 ? 0xffff0000u : 0x0000ffffu;
  float v = x[threadIdx.x];
  for (int o = 8; o > 0; o >>= 1) v += __shfl_xor_sync(mask, v, o, 16);
  if ((threadIdx.x & 16) != 0) v = __shfl_sync(mask, v + threadIdx.x, 16 + 3);
  y[threadIdx.x] = v;
}
// grid=1 block=64 exact
extern "C" __global__ void votes(const float* x, float* y, int n) {
  const bool p = x[threadIdx.x] > 0.5f;
  const unsigned b = __ballot_sync(0xffffffffu, p);
  y[threadIdx.x] = (b & 0xffff) + 100000.0f * __any_sync(0xffffffffu, threadIdx.x == 40) + 200000.0f * __all_sync(0xffffffffu, threadIdx.x < 40) + __popc(b);
}
// grid=1 block=32 exact
extern "C" __global__ void match(const float* x, float* y, int n) {
  const int key = threadIdx.x % 5;
  int all = 0;
  const unsigned same = __match_any_sync(0xffffffffu, key);
  const unsigned every = __match_all_sync(0xffffffffu, 3, &all);
  y[threadIdx.x] = __popc(same) + 100 * (__ffs(same) - 1) + 10000 * all + (every == 0xffffffffu ? 0.5f : 0.0f);
}
// grid=1 block=64 exact
extern "C" __global__ void warp_reductions(const float* x, float* y, int n) {
  const unsigned v = static_cast<unsigned>(x[threadIdx.x] * 1000.0f);
  y[threadIdx.x * 4] = __reduce_add_sync(0xffffffffu, v);
  y[threadIdx.x * 4 + 1] = __reduce_max_sync(0xffffffffu, v) + __reduce_min_sync(0xffffffffu, v);
  y[threadIdx.x * 4 + 2] = __reduce_or_sync(0xffffffffu, v);
  y[threadIdx.x * 4 + 3] = __reduce_and_sync(0xffffffffu, v | 1u) + __reduce_xor_sync(0xffffffffu, v);
}
// grid=1 block=64 exact
extern "C" __global__ void sync_warp(const float* x, float* y, int n) {
  __shared__ volatile float part[64];
  part[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  for (int s = 16; s > 0; s >>= 1) {
    const float other = part[(threadIdx.x & ~31) + ((threadIdx.x + s) & 31)];
    __syncwarp();
    part[threadIdx.x] = part[threadIdx.x] + other;
    __syncwarp();
  }
  y[threadIdx.x] = part[threadIdx.x];
}
// grid=8 block=128 exact
extern "C" __global__ void integer_atomics(const float* x, float* y, int n) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[static_cast<int>(x[i] * 7.999f) & 7], 1);
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&y[threadIdx.x], static_cast<float>(bins[threadIdx.x]));
}
// grid=4 block=64 exact
extern "C" __global__ void other_atomics(const float* x, float* y, int n) {
  int* out = reinterpret_cast<int*>(y);
  const int v = static_cast<int>(x[blockIdx.x * 64 + threadIdx.x] * 1000.0f);
  atomicMax(out, v);
  atomicMin(out + 1, -v);
  atomicOr(out + 2, 1 << (threadIdx.x % 20));
  atomicSub(out + 3, 2);
  atomicXor(out + 4, v);
  atomicInc(reinterpret_cast<unsigned*>(out) + 5, 1000u);
  if (threadIdx.x == 0) atomicExch(out + 6, 77);
  atomicCAS(out + 7, 0, 5);
}
// grid=4 block=64 exact
extern "C" __global__ void last_block(const float* x, float* y, int n) {
  __shared__ bool last;
  y[blockIdx.x * 64 + threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&g_counter, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  float sum = 0.0f;
  for (int i = 0; i < 4; ++i) sum += __ldcg(y + i * 64 + threadIdx.x);
  y[512 + threadIdx.x] = sum;
  if (threadIdx.x == 0) g_counter = 0;
}
// grid=4 block=256 exact
extern "C" __global__ void cached_loads(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __stcs(y + i, __ldg(x + i) + __ldcs(x + (n - 1 - i)) * kTable[i & 3]);
}
// grid=4 block=256 close
extern "C" __global__ void intrinsics(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = x[i];
  y[i] = __expf(v) + __logf(v + 1.0f) + __sinf(v) * __cosf(v) + __fdividef(v, 3.0f) + rsqrtf(v + 0.5f) + __powf(v + 1.0f, 1.5f) + __saturatef(2.0f * v - 0.5f);
}
// grid=4 block=256 close
extern "C" __global__ void math(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = x[i];
  y[i] = expf(v) + tanhf(v) + erff(v) + sqrtf(v) + log1pf(v) + fmaxf(v, 0.3f) + fabsf(v - 0.5f) + floorf(3.0f * v) + powf(v + 0.1f, 0.7f) + max(v, 0.2f) + min(i, 5);
}
// grid=4 block=256 exact
extern "C" __global__ void bits(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned u = __float_as_uint(x[i]);
  y[i] = static_cast<float>(__popc(u) + __clz(static_cast<int>(u)) + __ffs(static_cast<int>(u)) + static_cast<int>(__brev(u) & 255) + static_cast<int>(__umulhi(u, 77u)) % 100 + static_cast<int>(__byte_perm(u, 0x01020304u, 0x5140) & 0xffff) + static_cast<int>(__funnelshift_l(u, u, 7) & 63));
}
// grid=4 block=256 exact
extern "C" __global__ void rounding(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = (x[i] - 0.5f) * 100.0f;
  y[i] = __float2int_rn(v) + 2 * __float2int_rz(v) + 4 * __float2int_rd(v) + 8 * __float2int_ru(v) + __fmaf_rn(v, v, 1.0f) + __fadd_rn(v, __fmul_rn(v, 0.1f));
}
// grid=4 block=256 exact
extern "C" __global__ void halves(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half h = __float2half(x[i]);
  const __half2 two = __halves2half2(h, __float2half(0.5f));
  const float2 f = __half22float2(__hadd2(two, two));
  y[i] = __half2float(__hmul(h, h)) + f.x + f.y + __half2float(h + __float2half(1.0f));
}
// grid=4 block=256 exact
extern "C" __global__ void bfloats(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __nv_bfloat16 b = __float2bfloat16(x[i]);
  const __nv_bfloat162 two = __floats2bfloat162_rn(x[i], 2.0f);
  y[i] = __bfloat162float(b) + __low2float(two) * __high2float(two) + __bfloat162float(__hadd(b, b));
}
// grid=4 block=256 exact
template <int Width, typename T>
__global__ void templates(const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  T sum = 0;
#pragma unroll
  for (int k = 0; k < Width; ++k) sum += x[(i + k) % n];
  y[i] = sum;
}
// grid=2 block=128 exact
extern "C" __global__ void cg_block(const float* x, float* y, int n) {
  __shared__ float part[128];
  const cg::thread_block block = cg::this_thread_block();
  part[block.thread_rank()] = x[blockIdx.x * 128 + block.thread_rank()];
  block.sync();
  y[blockIdx.x * 128 + block.thread_rank()] = part[block.size() - 1 - block.thread_rank()] + block.group_index().x;
}
// grid=2 block=64 exact
extern "C" __global__ void cg_tiles(const float* x, float* y, int n) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  float v = x[blockIdx.x * 64 + threadIdx.x];
  for (int o = 4; o > 0; o >>= 1) v += tile.shfl_xor(v, o);
  const unsigned b = tile.ballot(tile.thread_rank() > 2);
  y[blockIdx.x * 64 + threadIdx.x] = v + tile.shfl(static_cast<float>(tile.thread_rank()), 5) + tile.meta_group_rank() * 100 + b + tile.any(tile.thread_rank() == 7) + tile.shfl_down(1.0f * tile.thread_rank(), 2);
}
// grid=2 block=64 close
extern "C" __global__ void cg_reduce(const float* x, float* y, int n) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const float v = x[blockIdx.x * 64 + threadIdx.x];
  y[blockIdx.x * 64 + threadIdx.x] = cg::reduce(warp, v, cg::plus<float>()) + cg::reduce(warp, v, cg::greater<float>()) + cg::inclusive_scan(warp, v, cg::plus<float>());
}
// grid=8 block=128 cooperative exact
extern "C" __global__ void grid_sync(const float* x, float* y, int n) {
  const cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  y[i] = x[i];
  grid.sync();
  const float other = y[n - 1 - i];
  grid.sync();
  y[i] += other;
}
// grid=8 block=64 cooperative exact
extern "C" __global__ void own_grid_barrier(const float* x, float* y, int n) {
  __shared__ float first;
  if (threadIdx.x == 0) {
    y[blockIdx.x] = x[blockIdx.x];
    kg::add_release(&g_counter, 1u);
    while (kg::load_acquire(&g_counter) % gridDim.x != 0) {
    }
    first = __ldcg(y + (blockIdx.x + 1) % gridDim.x);
  }
  __syncthreads();
  y[64 + blockIdx.x * 64 + threadIdx.x] = first + threadIdx.x;
}
// grid=1 block=32 close
extern "C" __global__ void wmma_tf32(const float* x, float* y, int n) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
  wmma::fill_fragment(c, 0.5f);
  for (int k = 0; k < 16; k += 8) {
    wmma::load_matrix_sync(a, x + k, 16);
    wmma::load_matrix_sync(b, x + 256 + k, 16);
    for (int i = 0; i < a.num_elements; ++i) a.x[i] = wmma::__float_to_tf32(a.x[i]);
    for (int i = 0; i < b.num_elements; ++i) b.x[i] = wmma::__float_to_tf32(b.x[i]);
    wmma::mma_sync(c, a, b, c);
  }
  for (int i = 0; i < c.num_elements; ++i) c.x[i] *= 2.0f;
  wmma::store_matrix_sync(y, c, 16, wmma::mem_row_major);
}
// grid=1 block=32 close
extern "C" __global__ void wmma_half(const float* x, float* y, int n) {
  using namespace nvcuda;
  __shared__ __half sa[256], sb[256];
  for (int i = threadIdx.x; i < 256; i += 32) sa[i] = __float2half(x[i]), sb[i] = __float2half(x[256 + i]);
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, sa, 16);
  wmma::load_matrix_sync(b, sb, 16);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(y, c, 16, wmma::mem_col_major);
}
// grid=1 block=32 close
extern "C" __global__ void mma_tf32(const float* x, float* y, int n) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const float* b = x + 128;
  const unsigned fa[4] = {kg::to_tf32(x[g * 8 + t]), kg::to_tf32(x[(g + 8) * 8 + t]), kg::to_tf32(x[g * 8 + t + 4]), kg::to_tf32(x[(g + 8) * 8 + t + 4])};
  const unsigned fb[2] = {kg::to_tf32(b[t * 8 + g]), kg::to_tf32(b[(t + 4) * 8 + g])};
  float d[4] = {0.0f, 1.0f, 2.0f, 3.0f};
  kg::mma_tf32(d, fa, fb);
  y[g * 8 + 2 * t] = d[0], y[g * 8 + 2 * t + 1] = d[1], y[(g + 8) * 8 + 2 * t] = d[2], y[(g + 8) * 8 + 2 * t + 1] = d[3];
}
// grid=1 block=32 close
extern "C" __global__ void ptx_mma_half(const float* x, float* y, int n) {
  __shared__ __align__(16) __half sa[16 * 16], sb[16 * 8];
  for (int i = threadIdx.x; i < 256; i += 32) sa[i] = __float2half(x[i]);
  for (int i = threadIdx.x; i < 128; i += 32) sb[i] = __float2half(x[300 + i]);
  __syncwarp();
  unsigned a[4], b[2];
  const unsigned pa = static_cast<unsigned>(__cvta_generic_to_shared(sa + (threadIdx.x % 16) * 16 + threadIdx.x / 16 * 8));
  const unsigned pb = static_cast<unsigned>(__cvta_generic_to_shared(sb + (threadIdx.x % 16) * 8));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(b[0]), "=r"(b[1]) : "r"(pb));
  float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; ++i) y[threadIdx.x * 4 + i] = d[i];
}
// grid=1 block=32 close
extern "C" __global__ void ptx_approximations(const float* x, float* y, int n) {
  float a, b, c;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(a) : "f"(x[threadIdx.x]));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(b) : "f"(x[threadIdx.x] + 1.0f));
  asm("tanh.approx.f32 %0, %1;" : "=f"(c) : "f"(0.001f * x[threadIdx.x]));
  y[threadIdx.x] = a + b + c;
}
// grid=1 block=64 exact
extern "C" __global__ void ptx_copies(const float* x, float* y, int n) {
  __shared__ __align__(16) float tile[256];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x * 4));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(x + threadIdx.x * 4) : "memory");
  asm volatile("cp.async.commit_group;\n cp.async.wait_group %0;" ::"n"(0) : "memory");
  __syncthreads();
  float4 v;
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(x + 256 + threadIdx.x * 4));
  y[threadIdx.x] = tile[255 - threadIdx.x] + v.x + v.w;
}
// grid=2 block=64 exact
extern "C" __global__ void ptx_bulk_copy(const float* x, float* y, int n) {
  __shared__ __align__(128) float tile[2][256];
  __shared__ __align__(8) unsigned long long bar[2];
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(bar));
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at + 8 * i), "r"(1u) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int i = 0; i < 2; ++i) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at + 8 * i), "r"(1024u) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       static_cast<unsigned>(__cvta_generic_to_shared(tile[i]))),
                   "l"(x + 256 * i), "r"(1024u), "r"(at + 8 * i)
                   : "memory");
    }
  }
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    unsigned done;
    do {
      asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : "r"(at + 8 * i), "r"(0u) : "memory");
    } while (!done);
  }
  y[blockIdx.x * 64 + threadIdx.x] = tile[0][255 - threadIdx.x] + 2.0f * tile[1][threadIdx.x * 3];
}
// grid=1 block=64 exact
extern "C" __global__ void async_copies(const float* x, float* y, int n) {
  __shared__ __align__(16) float tile[256];
  __pipeline_memcpy_async(tile + threadIdx.x * 4, x + threadIdx.x * 4, 16);
  __pipeline_commit();
  kg::cp_async_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  y[threadIdx.x] = tile[255 - threadIdx.x * 2];
}
// grid=2 block=128 close
extern "C" __global__ void cub_reduce(const float* x, float* y, int n) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage storage;
  const float sum = Reduce(storage).Sum(x[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
// grid=2 block=128 exact
extern "C" __global__ void cub_scan(const float* x, float* y, int n) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage storage;
  int before, total;
  Scan(storage).ExclusiveSum(static_cast<int>(x[threadIdx.x] * 10.0f), before, total);
  y[blockIdx.x * 128 + threadIdx.x] = before + 1000 * total;
}
// grid=1 block=64 close
extern "C" __global__ void cub_warp(const float* x, float* y, int n) {
  using Reduce = cub::WarpReduce<float>;
  __shared__ typename Reduce::TempStorage storage[2];
  const float sum = Reduce(storage[threadIdx.x / 32]).Sum(x[threadIdx.x]);
  if (threadIdx.x % 32 == 0) y[threadIdx.x / 32] = sum;
}
// grid=1 block=256 close
extern "C" __global__ void softmax(const float* x, float* y, int n) {
  __shared__ float part[8];
  float top = -INFINITY, sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) top = fmaxf(top, x[i]);
  top = kg::warp_max(top);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = top;
  __syncthreads();
  for (int i = 0; i < 8; ++i) top = fmaxf(top, part[i]);
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 256) sum += __expf(x[i] - top);
  sum = kg::warp_sum(sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int i = 0; i < 8; ++i) sum += part[i];
  for (int i = threadIdx.x; i < n; i += 256) y[i] = 1000.0f * __expf(x[i] - top) / sum;
}
// grid=2,2 block=16,16 close
extern "C" __global__ void tiled_matmul(const float* x, float* y, int n) {
  __shared__ float a[16][17], b[16][17];
  const int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < 32; k += 16) {
    a[threadIdx.y][threadIdx.x] = x[r * 32 + k + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = x[(k + threadIdx.y) * 32 + c];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
    __syncthreads();
  }
  y[r * 32 + c] = sum;
}
