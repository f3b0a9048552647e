// One compilation by NVRTC, in this process.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/compile/nvrtc.h"
#include "harness/compile/source.h"

namespace kagent::compile {

struct Options {
  std::string arch = "sm_90a";
  std::vector<std::string> include;  // CUDA's header folders
  std::string kagent_cuh;            // text of kagent.cuh
};

struct Compiled {
  bool ok = false;
  std::string log;
  std::string ptx;
  std::string cubin;
  nlohmann::json kernels = nlohmann::json::object();  // by the name asked for, and plain names of the rest
  std::string error_kind;                             // compile_error, unknown_kernel, internal
  std::string error;                                  // one line
  nlohmann::json errors = nlohmann::json::array();    // [{"line", "message"}]
};

Compiled compile(const Nvrtc& nvrtc, const Options& options, const Source& source,
                 const std::vector<std::string>& names);

// NVRTC's flags for these options: part of the cache's key.
std::vector<std::string> flags_of(const Options& options);

}  // namespace kagent::compile
