#include "harness/execute/driver.h"

#include <dlfcn.h>

#include "harness/execute/run_error.h"

namespace kagent::execute {
namespace {

Driver load() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw RunError("driver", "no CUDA driver here: libcuda.so.1 does not load");
  Driver found;
  const auto symbol = [&](auto& pointer, const char* name) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(::dlsym(library, name));
    if (pointer == nullptr) throw RunError("driver", std::string("the CUDA driver is too old: it lacks ") + name);
  };
  symbol(found.module_load, "cuModuleLoadData");
  symbol(found.module_unload, "cuModuleUnload");
  symbol(found.module_function, "cuModuleGetFunction");
  symbol(found.set_attribute, "cuFuncSetAttribute");
  symbol(found.get_attribute, "cuFuncGetAttribute");
  symbol(found.param_info, "cuFuncGetParamInfo");
  symbol(found.blocks_that_fit, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  symbol(found.memset_words, "cuMemsetD32Async");
  symbol(found.launch, "cuLaunchKernelEx");
  symbol(found.error_name, "cuGetErrorName");
  symbol(found.error_text, "cuGetErrorString");
  symbol(found.set_node_params, "cuGraphExecKernelNodeSetParams_v2");
  symbol(found.capture_info, "cuStreamGetCaptureInfo_v2");
  return found;
}

std::string kind_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "out_of_memory";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ASSERT:
      return "illegal_access";
    default:
      return "launch_error";
  }
}

}  // namespace

const Driver& driver() {
  static const Driver kLoaded = load();
  return kLoaded;
}

void check(CUresult result, const char* call, std::optional<int> line) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "unknown error";
  const char* text = "";
  driver().error_name(result, &name);
  driver().error_text(result, &text);
  throw RunError(kind_of(result), std::string(call) + ": " + name + ": " + text, line);
}

}  // namespace kagent::execute
