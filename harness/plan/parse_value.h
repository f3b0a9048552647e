// Values of a plan's steps, from JSON (docs/plan.md, "Values").
#pragma once

#include "harness/plan/plan.h"
#include "harness/plan/reader.h"

namespace kagent::plan {

enum class Where { kOperator, kLaunch, kArray, kInput };  // each allows values of its own

inline constexpr std::size_t kMaxText = 1024;  // bytes of a name or of a string argument

Value parse_value(Reader& reader, const nlohmann::json& node, const Place& at, Where where, std::size_t tensors);

TensorId parse_id(Reader& reader, const nlohmann::json& node, const Place& at, std::size_t tensors);

}  // namespace kagent::plan
