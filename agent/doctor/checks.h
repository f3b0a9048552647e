// The doctor's single checks, apart so that each can be tested.
#pragma once

#include <string>
#include <vector>

#include "agent/doctor/doctor.h"

namespace kagent::doctor {

struct PythonFacts {
  Finding python;
  Finding torch;
  Finding library;
  std::string wheels;  // site-packages/nvidia/cu13, where torch's own NVRTC and CUPTI are; "" without torch
};

// Starts `python`, imports torch and loads the harness library into it, as a worker does.
PythonFacts check_python(const std::string& python, const std::string& library);

// Starts the compiler and asks it what it found.
Finding check_compiler(const std::string& compiler, const std::string& cache);

// Loads NVRTC or CUPTI from the first of the CUDA folders that has it.
Finding check_nvrtc(const std::vector<std::string>& cuda_folders);
Finding check_cupti(const std::vector<std::string>& cuda_folders);

Finding check_gpu();

// Landlock and seccomp, which seal the tracer and the compiler.
Finding check_seal();

// `path` may not exist yet: then its nearest parent has to be writable. Warns below 2 GiB of free space.
Finding check_folder(const std::string& name, const std::string& path);

// Names of the API keys in the environment; never their values.
Finding check_keys();

}  // namespace kagent::doctor
