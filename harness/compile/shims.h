// Headers that NVRTC lacks and models write from habit: the harmless ones work, the others say what to do instead.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kagent::compile {

// (name, text) pairs for nvrtcCreateProgram. `kagent_cuh`: the text of kagent.cuh.
std::vector<std::pair<std::string, std::string>> shim_headers(const std::string& kagent_cuh);

// What every source begins with: fixed-width integers, limits, INFINITY, a few names of std.
const std::string& prelude();

}  // namespace kagent::compile
