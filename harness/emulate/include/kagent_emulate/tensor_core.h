// What tensor cores do: products of narrow inputs, summed in fp32. Lanes show each other their fragments by address.
#pragma once

#include <cstring>

#include "kagent_emulate/runtime.h"

namespace kagent::emulate {

// To nearest, ties away from zero (PTX ISA, cvt.rna.tf32.f32).
inline unsigned rounded_to_tf32(float x) {
  const unsigned bits = bits_of(x) & 0xffffffffu;
  return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u;
}
// Tensor cores read the upper 19 bits of a tf32 input.
inline float read_tf32(unsigned bits) { return from_bits<float>(bits & 0xffffe000u); }

// A lane's fragments of A (four words) and B (two) as all lanes see them.
struct Fragments {
  const unsigned* words;  // six a lane
  Fragments(const unsigned (&a)[4], const unsigned (&b)[2]) {
    std::uint64_t mine[3];
    __builtin_memcpy(mine, a, sizeof a);
    __builtin_memcpy(mine + 2, b, sizeof b);
    words = reinterpret_cast<const unsigned*>(exchange_words(0xffffffffu, mine) + kWide);
  }
  unsigned a(unsigned lane, unsigned i) const { return words[6 * lane + i]; }
  unsigned b(unsigned lane, unsigned i) const { return words[6 * lane + 4 + i]; }
};

// PTX ISA, "Matrix Fragments for mma.m16n8k8" (.tf32).
inline void mma_m16n8k8_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  const Fragments all(a, b);
  const unsigned g = lane() / 4, t = lane() % 4;
#pragma GCC unroll 4
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned r = i >= 2 ? 1 : 0, c = 2 * t + i % 2;
    float sum = d[i];
#pragma GCC unroll 8
    for (unsigned k = 0; k < 8; ++k)
      sum += read_tf32(all.a(g * 4 + k % 4, (k >= 4 ? 2 : 0) + r)) * read_tf32(all.b(c * 4 + k % 4, k >= 4 ? 1 : 0));
    d[i] = sum;
  }
}

// PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type": a word is two neighbours of a row (of a column
// in B).
template <class T>
void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  const Fragments all(a, b);
  const auto half_of = [](unsigned word, unsigned which) {
    return static_cast<float>(from_bits<T>(which != 0 ? word >> 16 : word & 0xffffu));
  };
  const unsigned g = lane() / 4, t = lane() % 4;
#pragma GCC unroll 4
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned r = i >= 2 ? 1 : 0, c = 2 * t + i % 2;
    float sum = d[i];
#pragma GCC unroll 16
    for (unsigned k = 0; k < 16; ++k)
      sum += half_of(all.a(g * 4 + k % 8 / 2, (k >= 8 ? 2 : 0) + r), k % 2) *
             half_of(all.b(c * 4 + k % 8 / 2, k >= 8 ? 1 : 0), k % 2);
    d[i] = sum;
  }
}

}  // namespace kagent::emulate
