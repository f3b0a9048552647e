// Facts of well-known GPUs, for machines that have none: compilation and plan validation need a target.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "agent/base/result.h"

namespace kagent {

// What is compiled for where there is no GPU and no --arch.
inline constexpr const char* kArchWithoutGpu = "sm_90a";

// The device facts of docs/protocol.md for an architecture ("sm_80", "sm_86", "sm_89", "sm_90a").
// Source: CUDA C++ Programming Guide, technical specifications per compute capability, and NVIDIA's data sheets.
// Errors: kUsage for an architecture that is not listed.
Result<nlohmann::json> device_facts(const std::string& arch);

}  // namespace kagent
