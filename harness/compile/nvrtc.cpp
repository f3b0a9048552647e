#include "harness/compile/nvrtc.h"

#include <dlfcn.h>

#include <type_traits>
#include <vector>

namespace kagent::compile {

Nvrtc load_nvrtc(const std::string& root) {
  Nvrtc found;
  std::vector<std::string> places;
  if (!root.empty()) {
    for (const char* folder : {"/lib/", "/lib64/"}) {
      for (const char* name : {"libnvrtc.so.13", "libnvrtc.so"}) places.push_back(root + folder + name);
    }
  } else {
    places = {"/usr/local/cuda/lib64/libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so"};
  }
  void* library = nullptr;
  for (const std::string& place : places) {
    library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) {
      found.library = place;
      break;
    }
  }
  if (library == nullptr) {
    found.error = "NVRTC is not to be found" + (root.empty() ? std::string() : " under " + root) +
                  ": give --cuda ROOT (a CUDA toolkit, or site-packages/nvidia/cu13 of torch's wheels)";
    return found;
  }
  const auto symbol = [&](auto& pointer, const char* name) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(::dlsym(library, name));
    if (pointer == nullptr && found.error.empty()) found.error = found.library + " lacks " + name;
  };
  symbol(found.version, "nvrtcVersion");
  symbol(found.error_string, "nvrtcGetErrorString");
  symbol(found.create, "nvrtcCreateProgram");
  symbol(found.destroy, "nvrtcDestroyProgram");
  symbol(found.add_name, "nvrtcAddNameExpression");
  symbol(found.lowered_name, "nvrtcGetLoweredName");
  symbol(found.compile, "nvrtcCompileProgram");
  symbol(found.log_size, "nvrtcGetProgramLogSize");
  symbol(found.log, "nvrtcGetProgramLog");
  symbol(found.ptx_size, "nvrtcGetPTXSize");
  symbol(found.ptx, "nvrtcGetPTX");
  symbol(found.cubin_size, "nvrtcGetCUBINSize");
  symbol(found.cubin, "nvrtcGetCUBIN");
  int major = 0;
  int minor = 0;
  if (found.error.empty() && found.version(&major, &minor) != NVRTC_SUCCESS) found.error = "nvrtcVersion failed";
  found.version_text = std::to_string(major) + "." + std::to_string(minor);
  return found;
}

}  // namespace kagent::compile
