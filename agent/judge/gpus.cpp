#include "agent/judge/gpus.h"

#include <cstdlib>
#include <filesystem>

namespace kagent {

std::vector<std::string> visible_gpus(const char* visible, int devices) {
  std::vector<std::string> gpus;
  if (visible == nullptr) {
    for (int i = 0; i < devices; ++i) gpus.push_back(std::to_string(i));
    return gpus;
  }
  std::string text = visible;
  text += ',';
  std::string gpu;
  for (const char c : text) {
    if (c == ' ') continue;
    if (c != ',') {
      gpu += c;
      continue;
    }
    if (gpu.empty() || gpu[0] == '-') break;  // CUDA takes nothing after an entry that is none
    gpus.push_back(gpu);
    gpu.clear();
  }
  return gpus;
}

std::vector<std::string> visible_gpus() {
  std::error_code failed;
  int devices = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", failed)) {
    const std::string name = entry.path().filename().string();
    const bool numbered = name.size() > 6 && name.find_first_not_of("0123456789", 6) == std::string::npos;
    if (name.starts_with("nvidia") && numbered) ++devices;
  }
  if (devices == 0 && std::filesystem::exists("/dev/dxg", failed)) devices = 1;
  return visible_gpus(std::getenv("CUDA_VISIBLE_DEVICES"), devices);
}

}  // namespace kagent
