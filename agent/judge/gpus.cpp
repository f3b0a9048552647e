#include "agent/judge/gpus.h"

#include <dlfcn.h>

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

std::string arch_name(int major, int minor) {
  return "sm_" + std::to_string(major) + std::to_string(minor) + (major >= 9 ? "a" : "");
}

std::string arch_of_gpus() {
  void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return "";
  // nvml.h's; all return 0 for success.
  using Device = struct nvmlDevice*;
  const auto init = reinterpret_cast<int (*)()>(::dlsym(library, "nvmlInit_v2"));
  const auto end = reinterpret_cast<int (*)()>(::dlsym(library, "nvmlShutdown"));
  const auto count_of = reinterpret_cast<int (*)(unsigned*)>(::dlsym(library, "nvmlDeviceGetCount_v2"));
  const auto device_at =
      reinterpret_cast<int (*)(unsigned, Device*)>(::dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
  const auto capability_of =
      reinterpret_cast<int (*)(Device, int*, int*)>(::dlsym(library, "nvmlDeviceGetCudaComputeCapability"));
  std::string arch;
  if (init != nullptr && end != nullptr && count_of != nullptr && device_at != nullptr && capability_of != nullptr &&
      init() == 0) {
    unsigned count = 0;
    bool same = count_of(&count) == 0;
    for (unsigned i = 0; same && i < count; ++i) {
      Device device = nullptr;
      int major = 0;
      int minor = 0;
      same = device_at(i, &device) == 0 && capability_of(device, &major, &minor) == 0 &&
             (arch.empty() || arch == arch_name(major, minor));
      arch = arch_name(major, minor);
    }
    if (!same) arch.clear();
    end();
  }
  ::dlclose(library);
  return arch;
}

}  // namespace kagent
