// What the executor and an emulated program say to each other over a socket: one Launch, then its arguments and ranges;
// one Report back. Both ends are on one machine and built together, so the structs go over as they are. What comes from
// the program is hostile: every field is read as a number or as text of fixed length.
#pragma once

#include <cstdint>

namespace kagent::emulate {

inline constexpr int kSocket = 3;  // descriptors of the program
inline constexpr int kArena = 4;   // a memfd: the tensors

struct Range {  // bytes of the arena that hold one piece of memory
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t writable = 1;
  std::uint32_t argument = 0;  // of the launch, the first that points there
};

struct Launch {
  std::uint32_t kernel = 0;  // index in the program
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint32_t cooperative = 0;
  std::uint32_t last_first = 0;    // blocks run one after another, the last one first
  std::uint64_t shared_bytes = 0;  // dynamic
  std::uint32_t arguments = 0;     // each: its size (uint32), its bytes
  std::uint32_t ranges = 0;
};

struct Report {
  std::uint32_t ok = 0;
  std::int32_t line = 0;  // of the answer; 0: unknown
  std::uint32_t block[3] = {};
  std::uint32_t thread[3] = {};
  char kind[32] = {};
  char message[448] = {};
};

struct Hello {
  std::uint64_t arena = 0;    // where the arena is in the program
  std::uint32_t kernels = 0;  // how many the program has
  std::uint32_t checking = 0;
};

}  // namespace kagent::emulate
