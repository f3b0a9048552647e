#include "harness/execute/scrub.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>

#include <algorithm>

#include "harness/execute/driver.h"

namespace kagent::execute {
namespace {

constexpr int kChipThreads = 256;   // of some 250 registers each: a multiprocessor's 64 Ki
constexpr int kLocalThreads = 512;  // a divisor of 1536 and of 2048, the threads of a multiprocessor
constexpr int kRegisters = 240;
// A few microseconds: longer than all blocks need to begin.
constexpr const char* kLinger =
    "linger:\n"
    "  mov.u64 now, %clock64;\n"
    "  sub.u64 now, now, begun;\n"
    "  setp.lt.u64 p, now, 16000;\n"
    "  @p bra linger;\n";

std::string numbered(int i) { return "%w" + std::to_string(i); }

// Each register takes the next one's value a few times over: all of them are in use at once. What comes out goes to
// `sink`, which is null, but ptxas does not know that.
std::string chip_kernel() {
  std::string s =
      ".extern .shared .align 16 .b8 block[];\n"
      ".visible .entry kagent_scrub_chip(.param .u32 word, .param .u32 bytes, .param .u32 rounds, .param .u64 sink)\n"
      ".maxntid 256, 1, 1\n"
      ".minnctapersm 1\n"
      "{\n"
      "  .reg .pred p;\n"
      "  .reg .b32 v, at, end, n, k, thread, base;\n"
      "  .reg .b64 out, begun, now;\n"
      "  .reg .b32 %w<" +
      std::to_string(kRegisters + 1) +
      ">;\n"
      "  ld.param.u32 v, [word];\n"
      "  ld.param.u32 end, [bytes];\n"
      "  ld.param.u32 n, [rounds];\n"
      "  ld.param.u64 out, [sink];\n"
      "  mov.u64 begun, %clock64;\n"
      "  mov.u32 thread, %tid.x;\n"
      "  mov.u32 base, block;\n"
      "  add.u32 end, end, base;\n"
      "  shl.b32 at, thread, 2;\n"
      "  add.u32 at, at, base;\n"
      "fill:\n"
      "  setp.ge.u32 p, at, end;\n"
      "  @p bra filled;\n"
      "  st.volatile.shared.u32 [at], v;\n"
      "  add.u32 at, at, " +
      std::to_string(4 * kChipThreads) +
      ";\n"
      "  bra fill;\n"
      "filled:\n"
      "  mov.u32 k, 0;\n";
  for (int i = 0; i < kRegisters; ++i) s += "  add.u32 " + numbered(i) + ", v, " + std::to_string(i) + ";\n";
  s += "turn:\n  mov.u32 " + numbered(kRegisters) + ", " + numbered(0) + ";\n";
  for (int i = 0; i < kRegisters; ++i) s += "  add.u32 " + numbered(i) + ", " + numbered(i + 1) + ", n;\n";
  s += "  add.u32 k, k, 1;\n  setp.lt.u32 p, k, n;\n  @p bra turn;\n";
  s += kLinger;
  for (int i = 1; i < kRegisters; ++i)
    s += "  xor.b32 " + numbered(0) + ", " + numbered(0) + ", " + numbered(i) + ";\n";
  return s + "  setp.eq.u64 p, out, 0;\n  @p bra done;\n  st.global.u32 [out], " + numbered(0) +
         ";\ndone:\n  ret;\n}\n";
}

std::string local_kernel(int bytes) {
  return ".visible .entry kagent_scrub_local(.param .u32 word, .param .u32 bytes, .param .u32 rounds, .param .u64 "
         "sink)\n"
         ".maxntid 512, 1, 1\n"
         "{\n"
         "  .local .align 16 .b8 deep[" +
         std::to_string(bytes) +
         "];\n"
         "  .reg .pred p;\n"
         "  .reg .b32 v, end;\n"
         "  .reg .b64 at, stop, begun, now;\n"
         "  ld.param.u32 v, [word];\n"
         "  ld.param.u32 end, [bytes];\n"
         "  mov.u64 begun, %clock64;\n"
         "  mov.u64 at, deep;\n"
         "  cvta.local.u64 at, at;\n"  // the local space itself has no volatile stores
         "  cvt.u64.u32 stop, end;\n"
         "  add.u64 stop, stop, at;\n"
         "fill:\n"
         "  st.volatile.u32 [at], v;\n"
         "  add.u64 at, at, 4;\n"
         "  setp.lt.u64 p, at, stop;\n"
         "  @p bra fill;\n" +
         std::string(kLinger) + "  ret;\n}\n";
}

int attribute(cudaDeviceAttr which, const c10::Device& device) {
  int value = 0;
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device.index()));
  return value;
}

int rounded_up(int bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

std::string scrub_ptx(int local_bytes) {
  std::string s = ".version 7.0\n.target sm_70\n.address_size 64\n" + chip_kernel();
  if (local_bytes > 0) s += local_kernel(rounded_up(local_bytes));
  return s;
}

Scrub::Scrub(const c10::Device& device, int local_bytes)
    : module_(scrub_ptx(local_bytes)),
      multiprocessors_(attribute(cudaDevAttrMultiProcessorCount, device)),
      shared_bytes_(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device)) {
  chip_ = module_.function("kagent_scrub_chip", shared_bytes_);
  if (local_bytes == 0) return;
  local_bytes_ = rounded_up(local_bytes);
  local_ = module_.function("kagent_scrub_local", 0);
  check(driver().blocks_that_fit(&local_blocks_, local_, kLocalThreads, 0),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor");
}

void Scrub::launch(CUfunction function, int blocks, int threads, int bytes, CUstream stream, std::uint32_t word) {
  std::uint32_t rounds = 3;
  std::uint64_t sink = 0;
  void* params[] = {&word, &bytes, &rounds, &sink};
  CUlaunchConfig config = {};
  config.gridDimX = static_cast<unsigned>(blocks);
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = static_cast<unsigned>(threads);
  config.sharedMemBytes = static_cast<unsigned>(function == chip_ ? bytes : 0);
  config.hStream = stream;
  check(driver().launch(&config, function, params, nullptr), "cuLaunchKernelEx");
}

void Scrub::run(std::uint32_t word, CUstream stream) {
  launch(chip_, multiprocessors_, kChipThreads, shared_bytes_, stream, word);
  if (local_ != nullptr)
    launch(local_, multiprocessors_ * std::max(local_blocks_, 1), kLocalThreads, local_bytes_, stream, word);
}

void fill_words(std::size_t begin, std::size_t end, std::uint32_t word, CUstream stream) {
  begin = (begin + 3) / 4 * 4;
  if (begin + 4 > end) return;
  check(driver().memset_words(begin, word, (end - begin) / 4, stream), "cuMemsetD32Async");
}

void fill_free_memory(const c10::Device& device, std::uint32_t word, CUstream stream) {
  const auto held = c10::cuda::CUDACachingAllocator::snapshot({0, 0}, /*include_traces=*/false);
  for (const auto& segment : held.segments) {
    if (segment.device != device.index()) continue;
    std::size_t at = segment.address;
    for (const auto& block : segment.blocks) {
      const std::size_t end = at + block.size;
      if (!block.active) fill_words(at, end, word, stream);
      if (block.allocated && block.requested_size > 0) fill_words(at + block.requested_size, end, word, stream);
      at = end;
    }
  }
}

}  // namespace kagent::execute
