#include "agent/score/best.h"

#include <algorithm>
#include <tuple>

namespace kagent::score {
namespace {

std::tuple<bool, double> rank(const Sample& sample) {
  const auto speedup = sample.speedup();
  return {sample.counts.value_or(false), speedup ? speedup->ratio : 0};
}

std::optional<Against> against(const Sample& sample, bool official) {
  std::optional<Against> fastest;
  for (const Baseline& baseline : sample.baselines) {
    if (!baseline.speedup || (official && !baseline.passes_official.value_or(false))) continue;
    // The candidate's time is the same for all, so the least speed-up is over the fastest baseline.
    if (!fastest || baseline.speedup->ratio < fastest->speedup.ratio)
      fastest = Against{baseline.name, *baseline.speedup};
  }
  return fastest;
}

}  // namespace

const Sample* best_of(const Task& task, const Which& which) {
  const Sample* best = nullptr;
  for (const Sample& sample : task.samples) {
    if (!sample.correct() || !which(sample)) continue;
    if (best == nullptr || rank(sample) > rank(*best)) best = &sample;
  }
  return best;
}

std::optional<Against> against_fastest(const Sample& sample) { return against(sample, false); }
std::optional<Against> against_fastest_official(const Sample& sample) { return against(sample, true); }

}  // namespace kagent::score
