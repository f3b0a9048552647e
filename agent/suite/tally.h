// How a run stands: for the progress line and the closing summary. Derived from the logs, never stored.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/run/task_state.h"

namespace kagent::suite {

// One task's standing. `samples` counts judged ones.
struct Standing {
  int samples = 0;
  bool accepted = false;  // some sample; by emulation too
  bool counts = false;    // some sample is accepted and faster, on a GPU, in the default tier
  bool ended = false;
};
Standing standing_of(const run::TaskState& state);

class Tally {
 public:
  Tally(int tasks, int samples_per_task) : tasks_(tasks), samples_per_task_(samples_per_task) {}

  // `before`: what the log held when this process began; work that is done costs no time now.
  void update(const std::string& task, const Standing& standing, bool before = false);

  // "12/50 tasks done, 8 accepted, fast_1 5/50, 31 samples judged, about 14 min left". Numbers only: spend and GPUs are
  // told by others.
  [[nodiscard]] std::string line() const;
  [[nodiscard]] nlohmann::json json() const;

 private:
  int tasks_;
  int samples_per_task_;
  mutable std::mutex mutex_;
  std::map<std::string, Standing> standings_;
  int samples_before_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// "45 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

}  // namespace kagent::suite
