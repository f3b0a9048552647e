#include "harness/execute/disturb.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "harness/execute/driver.h"

namespace kagent::execute {

std::string disturb_ptx() {
  return R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry kagent_disturb(.param .u32 seed, .param .u64 cycles)
.maxntid 1024, 1, 1
{
  .shared .align 4 .b8 word[4];
  .reg .pred loud, p;
  .reg .b32 mixed, at, old;
  .reg .b64 length, begun, now;
  ld.param.u32 mixed, [seed];
  ld.param.u64 length, [cycles];
  mov.u64 begun, %clock64;
  mov.u32 at, %smid;
  mad.lo.u32 mixed, at, 0x9e3779b1, mixed;
  mul.lo.u32 mixed, mixed, 0x85ebca6b;
  shr.u32 mixed, mixed, 31;
  setp.ne.u32 loud, mixed, 0;
  mov.u32 at, word;
again:
  @loud atom.shared.add.u32 old, [at], 1;
  @!loud nanosleep.u32 500;
  mov.u64 now, %clock64;
  sub.u64 now, now, begun;
  setp.lt.u64 p, now, length;
  @p bra again;
  ret;
}
)";
}

Disturbance::Disturbance(const c10::Device& device)
    : device_(device), module_(disturb_ptx()), function_(module_.function("kagent_disturb", 0)) {
  C10_CUDA_CHECK(
      cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, static_cast<int>(device.index())));
}

void Disturbance::start(std::uint32_t seed) {
  std::uint64_t cycles = 350'000;
  void* params[] = {&seed, &cycles};
  CUlaunchConfig config = {};
  config.gridDimX = static_cast<unsigned>(multiprocessors_);
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 1024;
  config.hStream = c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device_.index()).stream();
  check(driver().launch(&config, function_, params, nullptr), "cuLaunchKernelEx");
}

}  // namespace kagent::execute
