// Where the parts of kagent are on this machine.
#pragma once

#include <string>

#include "agent/base/result.h"

namespace kagent {

struct Installation {
  std::string root;      // holds harness/, prompts/, tasks/
  std::string python;    // a Python with torch: KAGENT_PYTHON, else .deps/venv/bin/python, else python3
  std::string library;   // libkagent_harness.so
  std::string seal;      // libkagent_seal.so
  std::string compiler;  // kagent-compile
  std::string emulator;  // kagent-emulate
  std::string cuda;      // KAGENT_CUDA_ROOT: where NVRTC and CUDA's headers are; "" lets the compiler look
  std::string cache;     // compiled kernels
};

// Finds them from the program's own path (build/<preset>/bin/kagent); KAGENT_ROOT overrides the root.
// Errors: kNotFound names what is missing.
Result<Installation> find_installation();

}  // namespace kagent
