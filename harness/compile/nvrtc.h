// NVRTC by dlopen: from a CUDA root (a toolkit or torch's wheel), so that neither needs to be installed to build
// kagent.
#pragma once

#include <nvrtc.h>

#include <string>

namespace kagent::compile {

struct Nvrtc {
  decltype(&nvrtcVersion) version = nullptr;
  decltype(&nvrtcGetErrorString) error_string = nullptr;
  decltype(&nvrtcCreateProgram) create = nullptr;
  decltype(&nvrtcDestroyProgram) destroy = nullptr;
  decltype(&nvrtcAddNameExpression) add_name = nullptr;
  decltype(&nvrtcGetLoweredName) lowered_name = nullptr;
  decltype(&nvrtcCompileProgram) compile = nullptr;
  decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&nvrtcGetProgramLog) log = nullptr;
  decltype(&nvrtcGetPTXSize) ptx_size = nullptr;
  decltype(&nvrtcGetPTX) ptx = nullptr;
  decltype(&nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&nvrtcGetCUBIN) cubin = nullptr;

  std::string error;         // "" if usable
  std::string library;       // path that was loaded
  std::string version_text;  // "13.0"
};

// `root`: a folder with lib or lib64 (and include); "" tries torch's wheel beside the usual places, then
// /usr/local/cuda.
Nvrtc load_nvrtc(const std::string& root);

}  // namespace kagent::compile
