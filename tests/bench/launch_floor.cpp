// Host time of the driver's own launch call, on an empty kernel of three arguments: what no executor can go below on
// this machine.
//
//     launch_floor    prints one JSON object: cuLaunchKernelEx on the default stream, 1,000 launches a round, median of
//                     50 rounds; the same with 200 launches a round; on a stream of its own; and cuLaunchKernel
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr const char* kPtx =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry nothing(.param .u64 x, .param .u64 y, .param .u32 n) { ret; }\n";
constexpr int kRounds = 50;

template <typename Function>
Function* symbol(void* library, const char* name) {
  void* found = ::dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "launch_floor: the CUDA driver lacks %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<Function*>(found);
}

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "launch_floor: %s: error %d\n", call, static_cast<int>(result));
  std::exit(1);
}

}  // namespace

int main() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "launch_floor: no CUDA driver here\n");
    return 1;
  }
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  check(symbol<decltype(cuInit)>(library, "cuInit")(0), "cuInit");
  check(symbol<decltype(cuDeviceGet)>(library, "cuDeviceGet")(&device, 0), "cuDeviceGet");
  check(symbol<decltype(cuDevicePrimaryCtxRetain)>(library, "cuDevicePrimaryCtxRetain")(&context, device),
        "cuDevicePrimaryCtxRetain");
  check(symbol<decltype(cuCtxSetCurrent)>(library, "cuCtxSetCurrent")(context), "cuCtxSetCurrent");
  check(symbol<decltype(cuModuleLoadData)>(library, "cuModuleLoadData")(&module, kPtx), "cuModuleLoadData");
  check(symbol<decltype(cuModuleGetFunction)>(library, "cuModuleGetFunction")(&function, module, "nothing"),
        "cuModuleGetFunction");
  const auto synchronize = symbol<decltype(cuCtxSynchronize)>(library, "cuCtxSynchronize");
  const auto launch = symbol<decltype(cuLaunchKernelEx)>(library, "cuLaunchKernelEx");
  const auto launch_plain = symbol<decltype(cuLaunchKernel)>(library, "cuLaunchKernel");

  CUstream own = nullptr;
  check(symbol<decltype(cuStreamCreate)>(library, "cuStreamCreate")(&own, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  CUdeviceptr x = 0;
  CUdeviceptr y = 0;
  int n = 32;
  std::array<void*, 3> arguments = {&x, &y, &n};
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 32;
  config.blockDimY = config.blockDimZ = 1;
  const auto by_config = [&](CUstream stream) {
    return [&, stream] {
      config.hStream = stream;
      return launch(&config, function, arguments.data(), nullptr);
    };
  };
  const auto plain = [&] { return launch_plain(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments.data(), nullptr); };
  const auto median_us = [&](int launches, const auto& start) {
    std::vector<double> us_per_launch;
    for (int round = 0; round < kRounds; ++round) {
      check(synchronize(), "cuCtxSynchronize");
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < launches; ++i) check(start(), "launch");
      const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
      us_per_launch.push_back(elapsed.count() / launches);
    }
    std::nth_element(us_per_launch.begin(), us_per_launch.begin() + kRounds / 2, us_per_launch.end());
    return us_per_launch[kRounds / 2];
  };
  std::printf("{\"driver_us_per_launch\": %.3f, ", median_us(1000, by_config(nullptr)));
  std::printf("\"of_200\": %.3f, ", median_us(200, by_config(nullptr)));
  std::printf("\"own_stream\": %.3f, ", median_us(1000, by_config(own)));
  std::printf("\"plain\": %.3f}\n", median_us(1000, plain));
  return 0;
}
