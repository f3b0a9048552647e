// The figures of one group of samples.

#include <algorithm>
#include <cmath>
#include <set>

#include "agent/score/scores.h"

namespace kagent::score {
namespace {

// A task's best sample of the group, or none.
using Best = std::vector<const Sample*>;

std::vector<std::string> baseline_names(const Best& best) {
  std::set<std::string> names;
  for (const Sample* sample : best) {
    if (sample == nullptr) continue;
    for (const Baseline& baseline : sample->baselines) names.insert(baseline.name);
  }
  std::vector<std::string> ordered(names.begin(), names.end());
  std::sort(ordered.begin(), ordered.end(), baseline_before);
  return ordered;
}

template <typename SpeedupOf>
AgainstBaseline against(const std::string& name, const Best& best, bool mixed, SpeedupOf speedup_of) {
  AgainstBaseline out;
  out.name = name;
  out.surely.of = out.ratio_above.of = static_cast<int>(best.size());
  std::vector<double> ratios;
  for (const Sample* sample : best) {
    const std::optional<Speedup> speedup = sample != nullptr ? speedup_of(*sample) : std::nullopt;
    if (!speedup) continue;
    ratios.push_back(speedup->ratio);
    out.ratio_above.hits += speedup->ratio > 1 ? 1 : 0;
    out.surely.hits += speedup->surely_above_1() ? 1 : 0;
    out.from_cache += speedup->low ? 0 : 1;
  }
  out.measured = static_cast<int>(ratios.size());
  if (!mixed) out.geomean = geometric_mean_of(ratios);
  return out;
}

std::vector<AgainstBaseline> against_all(const Best& best, bool mixed) {
  std::vector<AgainstBaseline> all;
  for (const std::string& name : baseline_names(best)) {
    all.push_back(against(name, best, mixed, [&](const Sample& sample) {
      const Baseline* baseline = sample.baseline(name);
      return baseline != nullptr ? baseline->speedup : std::nullopt;
    }));
  }
  const auto speedup_of = [](const std::optional<Against>& a) {
    return a ? std::optional<Speedup>(a->speedup) : std::nullopt;
  };
  all.push_back(against("fastest", best, mixed, [&](const Sample& s) { return speedup_of(against_fastest(s)); }));
  all.push_back(against("fastest that passes", best, mixed,
                        [&](const Sample& s) { return speedup_of(against_fastest_official(s)); }));
  return all;
}

void add_speed(const Best& best, Group& group) {
  std::vector<double> correct;
  for (const Sample* sample : best) {
    if (sample == nullptr) continue;
    if (const auto speedup = sample->speedup()) correct.push_back(speedup->ratio);
  }
  for (const double p : kThresholds) {
    const auto above = std::count_if(correct.begin(), correct.end(), [p](double ratio) { return ratio > p; });
    group.fast_p.emplace_back(p, Share{static_cast<int>(above), static_cast<int>(best.size())});
  }
  if (group.mixed) return;
  group.geomean_correct = geometric_mean_of(correct);
  std::vector<double> all = correct;
  all.resize(best.size(), 1.0);
  group.geomean_all = geometric_mean_of(all);
  for (double& ratio : all) ratio = std::max(ratio, 1.0);
  group.geomean_fallback = geometric_mean_of(all);
}

void add_memory(const Best& best, Group& group) {
  group.memory_less.of = static_cast<int>(best.size());
  std::vector<double> ratios;
  for (const Sample* sample : best) {
    const Baseline* eager = sample != nullptr ? sample->baseline("eager") : nullptr;
    if (eager == nullptr || !eager->peak_bytes || !sample->peak_bytes) continue;
    group.memory_less.hits += *sample->peak_bytes < *eager->peak_bytes ? 1 : 0;
    if (*sample->peak_bytes > 0 && *eager->peak_bytes > 0)
      ratios.push_back(static_cast<double>(*eager->peak_bytes) / static_cast<double>(*sample->peak_bytes));
  }
  if (!group.mixed) group.memory = geometric_mean_of(ratios);
}

void add_custom_share(const Best& best, Group& group) {
  std::vector<double> shares;
  for (const Sample* sample : best) {
    if (sample != nullptr && sample->custom_share) shares.push_back(*sample->custom_share);
  }
  group.custom_share = median_of(shares);
  group.custom_share_tasks = static_cast<int>(shares.size());
}

bool several_environments(const Best& best) {
  const Environment* first = nullptr;
  for (const Sample* sample : best) {
    if (sample == nullptr || !sample->speedup()) continue;
    if (first != nullptr && !(*first == sample->environment)) return true;
    first = &sample->environment;
  }
  return false;
}

}  // namespace

bool in_default_tier(const Sample& sample) { return sample.tier != Tier::kAny; }

Group group_of(const Run& run, const std::string& name, const Which& which) {
  Group group;
  group.name = name;
  Best best;
  const int tasks = static_cast<int>(run.tasks.size());
  group.correct.of = group.counted.of = tasks;
  for (const Task& task : run.tasks) {
    group.samples += static_cast<int>(std::count_if(task.samples.begin(), task.samples.end(),
                                                    [&](const Sample& s) { return s.judged() && which(s); }));
    const Sample* sample = best_of(task, which);
    best.push_back(sample);
    if (sample == nullptr) continue;
    group.correct.hits += 1;
    const bool on_gpu = std::any_of(task.samples.begin(), task.samples.end(),
                                    [&](const Sample& s) { return s.state == State::kAccepted && which(s); });
    group.only_emulated += on_gpu ? 0 : 1;
    group.counted.hits += sample->counts.value_or(false) ? 1 : 0;
  }
  group.mixed = several_environments(best);
  add_speed(best, group);
  group.baselines = against_all(best, group.mixed);
  add_memory(best, group);
  add_custom_share(best, group);
  return group;
}

}  // namespace kagent::score
