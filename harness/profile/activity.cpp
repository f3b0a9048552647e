// Records kernel activity. A kernel record names a correlation id (one launch call); an external-correlation record
// ties that id to the plan step pushed around the call. The two kinds of records arrive in any order and are joined at
// the end.

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "harness/profile/cupti.h"
#include "harness/profile/profile.h"

namespace kagent::profile {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
constexpr std::size_t kMaxKernels = std::size_t{2} << 20;
// CUPTI makes external-correlation records only for API calls that it records too.
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};

struct Recorder {
  std::mutex mutex;  // CUPTI delivers buffers on a thread of its own
  bool recording = false;
  bool callbacks = false;
  std::vector<std::pair<Kernel, std::uint32_t>> kernels;  // with correlation id
  std::unordered_map<std::uint32_t, int> steps;           // correlation id -> step
  std::size_t dropped = 0;
};

Recorder& recorder() {
  static Recorder* instance = new Recorder();  // CUPTI may call back during exit
  return *instance;
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *most_records = 0;
}

void take_record(Recorder& r, const CUpti_Activity* record) {
  if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && r.kernels.size() < kMaxKernels) {
    const auto* k = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
    Kernel kernel;
    kernel.name = readable_name(k->name != nullptr ? k->name : "");
    kernel.start_ns = k->start;
    kernel.end_ns = k->end;
    kernel.registers = k->registersPerThread;
    kernel.static_shared_bytes = k->staticSharedMemory;
    kernel.dynamic_shared_bytes = k->dynamicSharedMemory;
    r.kernels.emplace_back(std::move(kernel), k->correlationId);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
    const auto* c = reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
    r.steps[c->correlationId] = static_cast<int>(c->externalId);
  }
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  Recorder& r = recorder();
  const std::lock_guard<std::mutex> lock(r.mutex);
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cupti().next_record(buffer, valid, &record) == CUPTI_SUCCESS) take_record(r, record);
  std::size_t dropped = 0;
  if (cupti().dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) r.dropped += dropped;
  std::free(buffer);
}

}  // namespace

std::string start() {
  const Cupti& api = cupti();
  if (!api.error.empty()) return api.error;
  Recorder& r = recorder();
  if (r.recording) return "a profile is being recorded already";
  {
    const std::lock_guard<std::mutex> lock(r.mutex);
    r.kernels.clear();
    r.steps.clear();
    r.dropped = 0;
  }
  if (!r.callbacks) {
    const std::string failed =
        describe("cuptiActivityRegisterCallbacks", api.register_callbacks(give_buffer, take_buffer));
    if (!failed.empty()) return failed;
    r.callbacks = true;
  }
  for (const CUpti_ActivityKind kind : kKinds) {
    const std::string failed = describe("cuptiActivityEnable", api.enable(kind));
    if (!failed.empty()) return failed;
  }
  r.recording = true;
  return "";
}

void begin_step(int step) {
  if (!recorder().recording) return;
  cupti().push_correlation(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, static_cast<std::uint64_t>(step));
}

void end_step() {
  if (!recorder().recording) return;
  std::uint64_t last = 0;
  cupti().pop_correlation(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);
}

Recorded stop() {
  Recorder& r = recorder();
  Recorded out;
  if (!r.recording) {
    out.error = "no profile is being recorded";
    return out;
  }
  r.recording = false;
  out.error = describe("cuptiActivityFlushAll", cupti().flush_all(0));
  for (const CUpti_ActivityKind kind : kKinds) cupti().disable(kind);
  const std::lock_guard<std::mutex> lock(r.mutex);
  for (auto& [kernel, correlation] : r.kernels) {
    const auto step = r.steps.find(correlation);
    if (step != r.steps.end()) kernel.step = step->second;
    out.kernels.push_back(std::move(kernel));
  }
  r.kernels.clear();
  std::sort(out.kernels.begin(), out.kernels.end(),
            [](const Kernel& a, const Kernel& b) { return a.start_ns < b.start_ns; });
  if (out.error.empty() && r.dropped > 0) out.error = "the profile lost " + std::to_string(r.dropped) + " records";
  return out;
}

}  // namespace kagent::profile
