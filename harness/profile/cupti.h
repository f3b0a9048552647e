// CUPTI's entry points, found at run time.
#pragma once

#include <cupti.h>

#include <string>

namespace kagent::profile {

struct Cupti {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_correlation = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_correlation = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;

  std::string error;  // "" if all were found
};

// Loads once; later calls return the same. A library that the process already holds (torch's) is preferred.
const Cupti& cupti();

// "" for CUPTI_SUCCESS, else "call: reason".
std::string describe(const char* call, CUptiResult result);

}  // namespace kagent::profile
