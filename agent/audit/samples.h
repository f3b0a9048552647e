// The accepted samples of a run: what an audit is about.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/run/run_directory.h"

namespace kagent::audit {

struct Sample {
  std::string task;  // "3/4"
  int number = 1;
  nlohmann::json verdict;
  // The blobs that a judge is asked about: "task", "cuda", "plan". An opinion on other blobs is not on this sample.
  std::map<std::string, std::string> subject;

  [[nodiscard]] bool emulated() const;
  // Which of the three the log does not have, e.g. "preprocessed.cu"; empty: none, so a judge can be asked.
  [[nodiscard]] std::string lacks() const;
};

// In the manifest's order. Errors: a log is damaged.
Result<std::vector<Sample>> accepted_samples(const run::RunDirectory& run);

}  // namespace kagent::audit
