// RUN/baselines.json: baselines that were measured apart from the run, on the same kind of machine, as `kagent
// baselines
// --json` prints them (docs/baselines.md). Scores and reports show them beside what each verdict measured itself.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"

namespace kagent::score {

class RunBaselines {
 public:
  // None if the run has no such file; `damage` if it has one that cannot be used.
  explicit RunBaselines(const std::string& run_folder);

  // The verdict with torch.compile's times and with who passes the official check, if there is an entry of this very
  // task text, GPU model, driver and torch. What the verdict has already stays.
  [[nodiscard]] nlohmann::json added_to(nlohmann::json verdict, const std::string& task_sha256) const;

  [[nodiscard]] const std::optional<Error>& damage() const { return damage_; }

 private:
  std::vector<nlohmann::json> entries_;
  std::optional<Error> damage_;
};

}  // namespace kagent::score
