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

}  // namespace kagent
