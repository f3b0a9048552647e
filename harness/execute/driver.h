// The CUDA driver's entry points, found at run time, so that the library loads on a machine without a GPU.
#pragma once

#include <cuda.h>

#include <optional>
#include <string>

namespace kagent::execute {

struct Driver {
  decltype(&cuModuleLoadData) module_load = nullptr;
  decltype(&cuModuleUnload) module_unload = nullptr;
  decltype(&cuModuleGetFunction) module_function = nullptr;
  decltype(&cuFuncSetAttribute) set_attribute = nullptr;
  decltype(&cuFuncGetAttribute) get_attribute = nullptr;
  decltype(&cuFuncGetParamInfo) param_info = nullptr;
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) blocks_that_fit = nullptr;
  decltype(&cuMemsetD32Async) memset_words = nullptr;
  decltype(&cuLaunchKernelEx) launch = nullptr;
  decltype(&cuGetErrorName) error_name = nullptr;
  decltype(&cuGetErrorString) error_text = nullptr;
  decltype(&cuGraphExecKernelNodeSetParams) set_node_params = nullptr;
  // cuStreamGetCaptureInfo_v2: stream, status, id, graph, dependencies, their number.
  CUresult(CUDAAPI* capture_info)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**,
                                  size_t*) = nullptr;
};

// Throws RunError("driver") when there is no usable driver.
const Driver& driver();

// Throws RunError unless the call succeeded: launch_error, illegal_access (the context is lost), out_of_memory.
void check(CUresult result, const char* call, std::optional<int> line = std::nullopt);

}  // namespace kagent::execute
