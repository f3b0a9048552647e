// kagent.cuh: small device helpers that are easy to get subtly wrong. Namespace kg. For sm_80 and later; cluster functions for sm_90.
// Fragment layouts are PTX's of mma.m16n8k8 (PTX ISA, "Matrix Fragments for mma.m16n8k8"): with g = lane / 4, t = lane % 4,
//   A (16x8): a[0]=(g,t) a[1]=(g+8,t) a[2]=(g,t+4) a[3]=(g+8,t+4)    B (8x8): b[0]=(t,g) b[1]=(t+4,g)    C/D (16x8): (g,2t) (g,2t+1) (g+8,2t) (g+8,2t+1)
#pragma once

namespace kg {

// Rounds to TF32 to nearest (ties away), as cuDNN and cuBLAS round their inputs. Raw fp32 bits would be truncated.
__device__ __forceinline__ unsigned to_tf32(float x) {
  unsigned r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}

// d += a * b, 16x8x8, TF32 inputs, fp32 accumulation. Whole warp.
__device__ __forceinline__ void mma_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// x = big + small, both TF32: what 3xTF32 products are made of.
__device__ __forceinline__ void split_tf32(float x, unsigned& big, unsigned& small) {
  big = to_tf32(x);
  small = to_tf32(x - __uint_as_float(big));
}

// d += a * b nearly as accurate as fp32: three TF32 products of split fp32 fragments, the small ones first.
__device__ __forceinline__ void mma_3xtf32(float (&d)[4], const float (&a)[4], const float (&b)[2]) {
  unsigned a_big[4], a_small[4], b_big[2], b_small[2];
#pragma unroll
  for (int i = 0; i < 4; ++i) split_tf32(a[i], a_big[i], a_small[i]);
#pragma unroll
  for (int i = 0; i < 2; ++i) split_tf32(b[i], b_big[i], b_small[i]);
  mma_tf32(d, a_small, b_big);
  mma_tf32(d, a_big, b_small);
  mma_tf32(d, a_big, b_big);
}

// Asynchronous copy of 16 bytes from global to shared memory, past L1. Both addresses 16-byte aligned.
__device__ __forceinline__ void cp_async_16(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(shared)), "l"(global) : "memory");
}
// The same for 4 bytes, 4-byte aligned.
__device__ __forceinline__ void cp_async_4(void* shared, const void* global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(shared)), "l"(global) : "memory");
}
// Closes a group of copies of this thread.
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most N of this thread's groups are under way. Other threads' copies: __syncthreads() after it.
template <int N>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// Flags between blocks, at GPU scope: what was written before a release is seen after an acquire that reads its value.
__device__ __forceinline__ unsigned load_acquire(const unsigned* p) {
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void store_release(unsigned* p, unsigned v) { asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
__device__ __forceinline__ void add_release(unsigned* p, unsigned v) { asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }

// Sum over the warp; every lane gets it.
__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
__device__ __forceinline__ float warp_max(float v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
// Barrier over the cluster: shared memory written before it is seen by the other blocks after it.
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
// Reads a float at `p` (an address in this block's shared memory) from the block of rank `rank`.
__device__ __forceinline__ float load_cluster(const float* p, unsigned rank) {
  unsigned mine = (unsigned)__cvta_generic_to_shared(p), theirs;
  float v;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(mine), "r"(rank));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(theirs) : "memory");
  return v;
}
#endif

}  // namespace kg
