// Facts that a plan is held against: the compiled kernels (`kernels` of the compiler's answer) and the device
// (device facts), both as docs/protocol.md has them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/plan/problem.h"

namespace kagent::plan {

struct Param {
  enum class Kind { kPointer, kInt, kFloat, kStruct } kind = Kind::kInt;
  std::int64_t size = 0;         // bytes
  std::int64_t align = 1;        // bytes
  std::string pointee;           // "float"; empty where unknown (extern "C")
  std::optional<bool> is_const;  // of the pointee; nullopt where unknown
};

struct Kernel {
  std::string symbol;  // in the cubin
  bool mangled = false;
  std::vector<Param> params;
  std::int64_t registers = 0;            // a thread
  std::int64_t static_shared_bytes = 0;  // a block
  std::int64_t max_threads = 1024;       // a block (__launch_bounds__)
  std::optional<std::array<std::int64_t, 3>> required_cluster;
};

using Kernels = std::map<std::string, Kernel, std::less<>>;  // by the name that a launch uses

struct Device {
  std::string name;
  std::string arch;
  std::int64_t sm_count = 0;
  std::int64_t shared_per_block = 0;  // bytes, opted in
  std::int64_t shared_per_sm = 0;     // bytes
  std::int64_t registers_per_sm = 0;
  std::int64_t threads_per_sm = 0;
  std::int64_t blocks_per_sm = 0;
  std::int64_t max_cluster = 1;  // blocks
};

// Problems: bad_facts, with the field's name. Unknown fields are left alone.
std::variant<Kernels, Problem> read_kernels(std::string_view json);
std::variant<Device, Problem> read_device(std::string_view json);

// Blocks of `threads` threads and `shared_bytes` (static plus dynamic) that one SM holds at a time; 0: none fits.
// Source: CUDA's occupancy rules for compute capability 8.0 to 9.0 (registers in units of 256 a warp over four
// partitions, shared memory in units of 128 bytes plus what the system reserves a block).
std::int64_t blocks_per_sm(const Device& device, std::int64_t registers, std::int64_t threads,
                           std::int64_t shared_bytes);

}  // namespace kagent::plan
