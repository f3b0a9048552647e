// Means over tasks, with intervals by resampling the tasks.
#pragma once

#include <optional>
#include <vector>

#include "agent/score/share.h"

namespace kagent::score {

// A figure over `tasks` tasks. No value: nothing was measured. No interval: fewer than two tasks.
struct Estimate {
  std::optional<double> value;
  std::optional<Interval> interval;
  int tasks = 0;
};

inline constexpr int kResamples = 10'000;

// 95% percentile interval of the mean (B. Efron, Ann. Stat. 7, 1979). The seed is fixed, so that one log has one score.
// Nothing under two values.
std::optional<Interval> bootstrap_mean(const std::vector<double>& values);

Estimate mean_of(const std::vector<double>& values);

// exp of the mean of the logarithms; its interval likewise. Precondition: every value is above 0.
Estimate geometric_mean_of(const std::vector<double>& values);

// The middle one, or the mean of the two in the middle; no interval.
std::optional<double> median_of(std::vector<double> values);

}  // namespace kagent::score
