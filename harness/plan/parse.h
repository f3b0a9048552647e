// Reads the bytes of a plan. They were written by whoever wrote the answer and are taken as hostile: never a crash, at
// most kMaxTextBytes read, memory and time linear in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "harness/plan/plan.h"
#include "harness/plan/problem.h"

namespace kagent::plan {

inline constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxValues = 4'000'000;  // JSON values in the text: bounds memory
inline constexpr std::size_t kMaxTensors = 65'536;
inline constexpr std::size_t kMaxSteps = 20'000;  // prepare and forward together
inline constexpr std::size_t kMaxDimensions = 8;
inline constexpr std::size_t kMaxDepth = 16;
inline constexpr std::size_t kMaxConstantBytes = std::size_t{1} << 20;  // together
inline constexpr std::int64_t kMaxBytes = std::int64_t{1} << 47;        // elements or bytes of one tensor

using Parsed = std::variant<Plan, Problem>;

// The structure of docs/plan.md and nothing else: every field there, no unknown or repeated one, ids in range, sizes
// that cannot overflow. Problems: bad_json, bad_plan (message names the path: "forward[3].grid[1]: ..."), too_large.
Parsed parse(std::string_view text);

}  // namespace kagent::plan
