#include "agent/score/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace kagent::score {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::optional<Interval> bootstrap_mean(const std::vector<double>& values) {
  const std::size_t n = values.size();
  if (n < 2) return std::nullopt;
  std::mt19937_64 random(20260401);  // the standard fixes its numbers, not those of its distributions
  std::vector<double> means;
  means.reserve(kResamples);
  for (int i = 0; i < kResamples; ++i) {
    double sum = 0;
    for (std::size_t drawn = 0; drawn < n; ++drawn) sum += values[random() % n];
    means.push_back(sum / static_cast<double>(n));
  }
  std::sort(means.begin(), means.end());
  constexpr int kTail = kResamples / 40;  // 2.5%
  return Interval{means[kTail], means[kResamples - 1 - kTail]};
}

Estimate mean_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  return {mean(values), bootstrap_mean(values), static_cast<int>(values.size())};
}

Estimate geometric_mean_of(const std::vector<double>& values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (const double value : values) logs.push_back(std::log(value));
  Estimate estimate = mean_of(logs);
  if (estimate.value) estimate.value = std::exp(*estimate.value);
  if (estimate.interval)
    estimate.interval = Interval{std::exp(estimate.interval->low), std::exp(estimate.interval->high)};
  return estimate;
}

std::optional<double> median_of(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace kagent::score
