// `kagent doctor`: what is missing on this machine for kagent's work, and what to do about it. Looks, and changes
// nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kagent {

// Where to look. Empty paths are reported as missing.
struct DoctorInput {
  std::string python;    // the Python that should have torch
  std::string library;   // libkagent_harness.so
  std::string compiler;  // kagent-compile
  std::string cuda;      // KAGENT_CUDA_ROOT; "" looks in torch's wheels, then in /usr/local/cuda
  std::string cache;     // compiled kernels
  std::string runs;      // where run directories go
};

enum class Health {
  kOk,
  kWarning,  // something is not to be had: no GPU, no key, no profile
  kMissing,  // kagent cannot judge an answer here
};

struct Finding {
  std::string name;  // "torch"
  Health health = Health::kOk;
  std::string fact;    // what was found, one line
  std::string advice;  // what to do; empty when all is well
};

// Takes some seconds: torch is imported. Every check gives exactly one finding, in a fixed order.
std::vector<Finding> examine(const DoctorInput& input);

// False when something is kMissing.
bool all_there(const std::vector<Finding>& findings);

// One line a finding, and the advice indented below it.
std::string to_text(const std::vector<Finding>& findings);

// {"ok": bool, "checks": [{"name", "health": "ok"|"warning"|"missing", "fact", "advice"}]}
nlohmann::json to_json(const std::vector<Finding>& findings);

}  // namespace kagent
