// The GPUs that this process may use.
#pragma once

#include <string>
#include <vector>

namespace kagent {

// As CUDA_VISIBLE_DEVICES names them where it is set (Slurm sets it), else by number, from the driver's devices in
// /dev. Empty: none.
std::vector<std::string> visible_gpus();

// `visible`: the variable's value, or null. `devices`: how many /dev/nvidia<N> there are.
std::vector<std::string> visible_gpus(const char* visible, int devices);

// The architecture to compile for, e.g. sm_90a, by NVML: quick, and no process gets a CUDA context for it. Empty: there
// is no NVML, or this machine's GPUs are of several architectures.
std::string arch_of_gpus();

// sm_90a of 9 and 0: from compute capability 9 on, kernels may use what only their own architecture has.
std::string arch_name(int major, int minor);

}  // namespace kagent
