#include "harness/profile/cupti.h"

#include <dlfcn.h>

namespace kagent::profile {
namespace {

void* open_library(std::string& tried) {
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so", "/usr/local/cuda/lib64/libcupti.so"}) {
    if (void* loaded = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return loaded;
    if (void* loaded = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return loaded;
    tried += std::string(tried.empty() ? "" : ", ") + name;
  }
  return nullptr;
}

Cupti load() {
  Cupti found;
  std::string tried;
  void* library = open_library(tried);
  if (library == nullptr) {
    found.error = "CUPTI is not usable here: none of " + tried + " loads; torch's wheel nvidia-cuda-cupti brings it";
    return found;
  }
  const auto symbol = [&](auto& pointer, const char* name) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(::dlsym(library, name));
    if (pointer == nullptr && found.error.empty())
      found.error = std::string("CUPTI is not usable here: it lacks ") + name;
  };
  symbol(found.register_callbacks, "cuptiActivityRegisterCallbacks");
  symbol(found.enable, "cuptiActivityEnable");
  symbol(found.disable, "cuptiActivityDisable");
  symbol(found.flush_all, "cuptiActivityFlushAll");
  symbol(found.next_record, "cuptiActivityGetNextRecord");
  symbol(found.dropped_records, "cuptiActivityGetNumDroppedRecords");
  symbol(found.push_correlation, "cuptiActivityPushExternalCorrelationId");
  symbol(found.pop_correlation, "cuptiActivityPopExternalCorrelationId");
  symbol(found.result_string, "cuptiGetResultString");
  return found;
}

}  // namespace

const Cupti& cupti() {
  static const Cupti kLoaded = load();
  return kLoaded;
}

std::string describe(const char* call, CUptiResult result) {
  if (result == CUPTI_SUCCESS) return "";
  const char* reason = nullptr;
  cupti().result_string(result, &reason);
  return std::string("CUPTI is not usable here: ") + call + ": " + (reason != nullptr ? reason : "unknown error");
}

}  // namespace kagent::profile
