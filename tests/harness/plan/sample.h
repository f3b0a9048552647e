// A plan that breaks no rule and uses every part of the format, with the kernels and the device it fits.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/plan/kernels.h"
#include "harness/plan/operators.h"
#include "harness/plan/plan.h"

namespace kagent::plan::sample {

using Json = nlohmann::json;

Json plan_json();
std::string kernels_text();
std::string device_text();

Plan plan();  // plan_json() read
Kernels kernels();
Device device();  // an H200
Operators operators();

// Indices of forward's steps in plan_json().
inline constexpr int kConv = 0;
inline constexpr int kEmpty = 1;
inline constexpr int kBn = 2;  // launch "bn<0>", a mangled kernel
inline constexpr int kView = 3;
inline constexpr int kSlice = 4;
inline constexpr int kFc = 5;  // launch "fc", extern "C"
inline constexpr int kRelu = 6;

}  // namespace kagent::plan::sample
