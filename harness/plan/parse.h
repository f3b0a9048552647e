// Reads a plan from JSON. The bytes are hostile: the schema is closed (an unknown, missing or doubled field, a wrong
// type or a value out of range refuses the plan), sizes and nesting are bounded, and nothing trusts a number before
// checking it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "harness/plan/plan.h"
#include "harness/plan/problem.h"

namespace kagent::plan {

inline constexpr std::size_t kMaxPlanBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxTensors = 65536;
inline constexpr std::size_t kMaxSteps = 20000;
inline constexpr std::size_t kMaxDims = 16;
inline constexpr std::size_t kMaxValues = 2'000'000;  // JSON values of the whole text
inline constexpr int kMaxDepth = 16;
inline constexpr std::int64_t kMaxBytes = std::int64_t{1} << 47;        // of a tensor
inline constexpr std::size_t kMaxConstantBytes = std::size_t{1} << 20;  // of all constants

using Parsed = std::variant<Plan, Problem>;

// Problems: bad_json; bad_plan, whose message names the path ("forward[3].grid[1]: ..."); too_large.
Parsed parse(std::string_view text);

}  // namespace kagent::plan
