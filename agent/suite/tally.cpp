#include "agent/suite/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "agent/base/json_text.h"

namespace kagent::suite {

Standing standing_of(const run::TaskState& state) {
  Standing standing;
  standing.ended = state.ended;
  for (const run::SampleState& sample : state.samples) {
    if (!sample.verdict) continue;
    const nlohmann::json verdict = object_in(*sample.verdict, "verdict");
    ++standing.samples;
    standing.accepted = standing.accepted || text_or(verdict, "outcome", "") == "accepted";
    standing.counts = standing.counts || flag_or(verdict, "counts", false);
  }
  return standing;
}

void Tally::update(const std::string& task, const Standing& standing, bool before) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (before) samples_before_ += standing.samples;
  standings_[task] = standing;
}

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

nlohmann::json Tally::json() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  int done = 0;
  int accepted = 0;
  int counts = 0;
  int samples = 0;
  int open_samples = tasks_ * samples_per_task_;
  for (const auto& [task, s] : standings_) {
    done += s.ended ? 1 : 0;
    accepted += s.accepted ? 1 : 0;
    counts += s.counts ? 1 : 0;
    samples += s.samples;
    open_samples -= s.ended ? samples_per_task_ : std::min(s.samples, samples_per_task_);
  }
  nlohmann::json out = {{"tasks", tasks_},
                        {"done", done},
                        {"accepted", accepted},
                        {"counts", counts},
                        {"samples", samples},
                        {"samples_now", samples - samples_before_},
                        {"open_samples", open_samples}};
  const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (samples > samples_before_ && open_samples > 0)
    out["left_s"] = elapsed_s / (samples - samples_before_) * open_samples;
  return out;
}

std::string Tally::line() const {
  const nlohmann::json now = json();
  std::string text = fmt::format("{}/{} tasks done, {} accepted, fast_1 {}/{}, {} samples judged", now["done"].dump(),
                                 tasks_, now["accepted"].dump(), now["counts"].dump(), tasks_, now["samples"].dump());
  if (now.contains("left_s")) text += fmt::format(", about {} left", duration_text(now["left_s"].get<double>()));
  return text;
}

}  // namespace kagent::suite
