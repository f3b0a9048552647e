// What tensor cores do: products of narrow inputs, summed in fp32. Lanes show each other their fragments by address.
#pragma once

#include <cstring>

namespace kagent::emulate {

// To nearest, ties away from zero (PTX ISA, cvt.rna.tf32.f32).
inline unsigned rounded_to_tf32(float x) {
  const unsigned bits = bits_of(x) & 0xffffffffu;
  return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u;
}
// Tensor cores read the upper 19 bits of a tf32 input.
inline float read_tf32(unsigned bits) { return from_bits<float>(bits & 0xffffe000u); }

// PTX ISA, "Matrix Fragments for mma.m16n8k8" (.tf32).
inline void mma_m16n8k8_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  struct Shown {
    const unsigned* a;
    const unsigned* b;
  } mine = {a, b};
  const std::uint64_t* row = exchange(0xffffffffu, reinterpret_cast<std::uint64_t>(&mine));
  const Shown* lanes[32];
  for (int i = 0; i < 32; ++i) lanes[i] = reinterpret_cast<const Shown*>(row[i]);
  const unsigned g = lane() / 4, t = lane() % 4;
  float sums[4];
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned r = g + (i >= 2 ? 8 : 0), c = 2 * t + i % 2;
    float sum = d[i];
    for (unsigned k = 0; k < 8; ++k) {
      const float x = read_tf32(lanes[(r % 8) * 4 + k % 4]->a[(k >= 4 ? 2 : 0) + (r >= 8 ? 1 : 0)]);
      const float y = read_tf32(lanes[c * 4 + k % 4]->b[k >= 4 ? 1 : 0]);
      sum += x * y;
    }
    sums[i] = sum;
  }
  exchange(0xffffffffu, 0);  // nobody goes on, and changes its fragments, before all have read them
  for (int i = 0; i < 4; ++i) d[i] = sums[i];
}

// PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type": a word is two neighbours of a row (of a column in B).
template <class T>
void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  struct Shown {
    const unsigned* a;
    const unsigned* b;
  } mine = {a, b};
  const std::uint64_t* row = exchange(0xffffffffu, reinterpret_cast<std::uint64_t>(&mine));
  const Shown* lanes[32];
  for (int i = 0; i < 32; ++i) lanes[i] = reinterpret_cast<const Shown*>(row[i]);
  const auto half_of = [](unsigned word, unsigned which) {
    return static_cast<float>(from_bits<T>(which != 0 ? word >> 16 : word & 0xffffu));
  };
  const unsigned g = lane() / 4, t = lane() % 4;
  float sums[4];
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned r = g + (i >= 2 ? 8 : 0), c = 2 * t + i % 2;
    float sum = d[i];
    for (unsigned k = 0; k < 16; ++k) {
      const unsigned holder = k % 8 / 2;
      sum += half_of(lanes[(r % 8) * 4 + holder]->a[(k >= 8 ? 2 : 0) + (r >= 8 ? 1 : 0)], k % 2) *
             half_of(lanes[c * 4 + holder]->b[k >= 8 ? 1 : 0], k % 2);
    }
    sums[i] = sum;
  }
  exchange(0xffffffffu, 0);
  for (int i = 0; i < 4; ++i) d[i] = sums[i];
}

}  // namespace kagent::emulate
