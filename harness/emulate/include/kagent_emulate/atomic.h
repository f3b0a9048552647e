// Atomics, in global and shared memory alike (CUDA C++ Programming Guide, "Atomic Functions").
#pragma once

#include <atomic>
#include <type_traits>

#include "kagent_emulate/runtime.h"

namespace kagent::emulate {
// `next` of the old value, until nobody came between.
template <class T, class Next>
T atomic_update(T* p, Next next) {
  const Unchecked unchecked;
  T old;
  __atomic_load(p, &old, __ATOMIC_SEQ_CST);
  for (;;) {
    T wanted = next(old);
    if (__atomic_compare_exchange(p, &old, &wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) break;
  }
  atomic_done();
  return old;
}
}  // namespace kagent::emulate

template <class T>
T atomicAdd(T* p, std::type_identity_t<T> v) {
  return kagent::emulate::atomic_update(p, [v](T o) { return static_cast<T>(o + v); });
}
template <class T>
T atomicSub(T* p, std::type_identity_t<T> v) {
  return kagent::emulate::atomic_update(p, [v](T o) { return static_cast<T>(o - v); });
}
template <class T>
T atomicExch(T* p, std::type_identity_t<T> v) {
  return kagent::emulate::atomic_update(p, [v](T) { return v; });
}
template <class T>
T atomicMin(T* p, std::type_identity_t<T> v) {
  return kagent::emulate::atomic_update(p, [v](T o) { return v < o ? v : o; });
}
template <class T>
T atomicMax(T* p, std::type_identity_t<T> v) {
  return kagent::emulate::atomic_update(p, [v](T o) { return o < v ? v : o; });
}
template <class T>
T atomicAnd(T* p, std::type_identity_t<T> v) {
  return kagent::emulate::atomic_update(p, [v](T o) { return static_cast<T>(o & v); });
}
template <class T>
T atomicOr(T* p, std::type_identity_t<T> v) {
  return kagent::emulate::atomic_update(p, [v](T o) { return static_cast<T>(o | v); });
}
template <class T>
T atomicXor(T* p, std::type_identity_t<T> v) {
  return kagent::emulate::atomic_update(p, [v](T o) { return static_cast<T>(o ^ v); });
}
template <class T>
T atomicCAS(T* p, std::type_identity_t<T> want, std::type_identity_t<T> v) {
  return kagent::emulate::atomic_update(p,
                                        [want, v](T o) { return __builtin_memcmp(&o, &want, sizeof o) == 0 ? v : o; });
}
inline unsigned atomicInc(unsigned* p, unsigned most) {
  return kagent::emulate::atomic_update(p, [most](unsigned o) { return o >= most ? 0 : o + 1; });
}
inline unsigned atomicDec(unsigned* p, unsigned most) {
  return kagent::emulate::atomic_update(p, [most](unsigned o) { return o == 0 || o > most ? most : o - 1; });
}
#define atomicAdd_block atomicAdd
#define atomicAdd_system atomicAdd
#define atomicMax_block atomicMax
#define atomicMin_block atomicMin
#define atomicExch_block atomicExch
#define atomicCAS_block atomicCAS

template <class T>
T __ldg(const T* p) {
  return *p;
}
template <class T>
T __ldca(const T* p) {
  return *p;
}
template <class T>
T __ldcg(const T* p) {
  return *p;
}
template <class T>
T __ldcs(const T* p) {
  return *p;
}
template <class T>
T __ldcv(const T* p) {
  kagent::emulate::atomic_done();
  return *const_cast<const volatile T*>(p);
}
template <class T>
T __ldlu(const T* p) {
  return *p;
}
template <class T>
void __stcs(T* p, T v) {
  *p = v;
}
template <class T>
void __stcg(T* p, T v) {
  *p = v;
}
template <class T>
void __stwb(T* p, T v) {
  *p = v;
}
template <class T>
void __stwt(T* p, T v) {
  *p = v;
}
