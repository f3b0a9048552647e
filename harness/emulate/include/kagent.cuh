// kagent.cuh for the CPU: the same functions as harness/compile/include/kagent.cuh, without PTX.
#pragma once

#include "kagent_emulate/tensor_core.h"

namespace kg {

inline unsigned to_tf32(float x) { return kagent::emulate::rounded_to_tf32(x); }
inline void mma_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) { kagent::emulate::mma_m16n8k8_tf32(d, a, b); }
inline void split_tf32(float x, unsigned& big, unsigned& small) {
  big = to_tf32(x);
  small = to_tf32(x - __uint_as_float(big));
}
inline void mma_3xtf32(float (&d)[4], const float (&a)[4], const float (&b)[2]) {
  unsigned a_big[4], a_small[4], b_big[2], b_small[2];
  for (int i = 0; i < 4; ++i) split_tf32(a[i], a_big[i], a_small[i]);
  for (int i = 0; i < 2; ++i) split_tf32(b[i], b_big[i], b_small[i]);
  mma_tf32(d, a_small, b_big);
  mma_tf32(d, a_big, b_small);
  mma_tf32(d, a_big, b_big);
}
inline void cp_async_16(void* shared, const void* global) { *static_cast<float4*>(shared) = *static_cast<const float4*>(global); }
inline void cp_async_4(void* shared, const void* global) { *static_cast<float*>(shared) = *static_cast<const float*>(global); }
inline void cp_async_commit() {}
template <int N>
void cp_async_wait() {}
inline unsigned load_acquire(const unsigned* p) {
  kagent::emulate::yield();
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
inline void store_release(unsigned* p, unsigned v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
inline void add_release(unsigned* p, unsigned v) { __atomic_fetch_add(p, v, __ATOMIC_RELEASE); }
inline float warp_sum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
inline float warp_max(float v) {
  for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}
void cluster_sync() KAGENT_NOT_EMULABLE("clusters");
unsigned cluster_rank() KAGENT_NOT_EMULABLE("clusters");
float load_cluster(const float* p, unsigned rank) KAGENT_NOT_EMULABLE("clusters");

}  // namespace kg
