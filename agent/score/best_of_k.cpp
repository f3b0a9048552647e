// What more samples bring: the best of the first k, or pass@k.

#include "agent/score/best_of_k.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "agent/score/pass_at_k.h"

namespace kagent::score {
namespace {

BestOfK first_k(const Run& run, int k, bool mixed) {
  const auto which = [k](const Sample& sample) { return sample.number <= k && in_default_tier(sample); };
  std::vector<double> correct;
  std::vector<double> counted;
  std::vector<double> ratios;
  for (const Task& task : run.tasks) {
    const Sample* best = best_of(task, which);
    correct.push_back(best != nullptr ? 1 : 0);
    counted.push_back(best != nullptr && best->counts.value_or(false) ? 1 : 0);
    const auto speedup = best != nullptr ? best->speedup() : std::nullopt;
    ratios.push_back(speedup ? speedup->ratio : 1);
  }
  const auto share = [](const std::vector<double>& hits) {
    const Share s{static_cast<int>(std::count(hits.begin(), hits.end(), 1.0)), static_cast<int>(hits.size())};
    return s.of > 0 ? Estimate{s.value(), s.interval(), s.of} : Estimate{};
  };
  return {k, share(correct), share(counted), mixed ? Estimate{} : geometric_mean_of(ratios)};
}

BestOfK pass_k(const Run& run, int k) {
  std::vector<double> correct;
  std::vector<double> counted;
  const int n = run.asked.samples;
  for (const Task& task : run.tasks) {
    const auto chance = [&](const Which& good) {
      const auto c = std::count_if(task.samples.begin(), task.samples.end(),
                                   [&](const Sample& s) { return in_default_tier(s) && good(s); });
      return pass_at_k(n, static_cast<int>(c), k);
    };
    correct.push_back(chance([](const Sample& s) { return s.correct(); }));
    counted.push_back(chance([](const Sample& s) { return s.counts.value_or(false); }));
  }
  return {k, mean_of(correct), mean_of(counted), {}};
}

}  // namespace

bool pass_at_k_applies(const Asked& asked) { return asked.independent() && !asked.stop_when_faster; }

std::vector<BestOfK> best_of_k(const Run& run, bool mixed) {
  std::vector<BestOfK> all;
  for (int k = 1; k <= std::min(kMostK, run.asked.samples); ++k)
    all.push_back(pass_at_k_applies(run.asked) ? pass_k(run, k) : first_k(run, k, mixed));
  return all;
}

std::string why_it_falls(const std::vector<BestOfK>& all) {
  const auto fall = std::adjacent_find(all.begin(), all.end(), [](const BestOfK& a, const BestOfK& b) {
    return a.geomean_all.value && b.geomean_all.value && *b.geomean_all.value < *a.geomean_all.value;
  });
  if (fall == all.end()) return "";
  return fmt::format(
      "The mean falls at k = {}: a sample that counts stands for its task, even where an earlier one that does not "
      "count is faster over eager.",
      std::next(fall)->k);
}

}  // namespace kagent::score
