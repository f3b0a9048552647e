#include "agent/judge/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace kagent {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Sample standard deviation; precondition: two values or more.
double deviation(const std::vector<double>& values) {
  const double m = mean(values);
  double sum = 0;
  for (const double v : values) sum += (v - m) * (v - m);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double t_quantile_975(std::size_t samples) {
  const boost::math::students_t distribution(static_cast<double>(samples - 1));
  return boost::math::quantile(distribution, 0.975);
}

std::vector<double> flatten(const std::vector<Burst>& bursts) {
  std::vector<double> all;
  for (const auto& burst : bursts) all.insert(all.end(), burst.begin(), burst.end());
  return all;
}

}  // namespace

Summary summarise(const std::vector<Burst>& bursts) {
  std::vector<double> all = flatten(bursts);
  std::sort(all.begin(), all.end());
  const std::size_t n = all.size();
  const double median = n % 2 == 1 ? all[n / 2] : (all[n / 2 - 1] + all[n / 2]) / 2;
  return {mean(all), median, all.front(), static_cast<int>(n)};
}

std::optional<Ratio> ratio_of(const std::vector<Burst>& baseline, const std::vector<Burst>& candidate) {
  const std::size_t pairs = std::min(baseline.size(), candidate.size());
  std::vector<double> logs;
  for (std::size_t i = 0; i < pairs; ++i) {
    if (baseline[i].empty() || candidate[i].empty()) continue;
    logs.push_back(std::log(mean(baseline[i]) / mean(candidate[i])));
  }
  if (logs.size() < 2) return std::nullopt;
  const auto paired = [&](const std::vector<Burst>& all) {
    return flatten({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(pairs)});
  };
  const double ratio = mean(paired(baseline)) / mean(paired(candidate));
  const double half = t_quantile_975(logs.size()) * deviation(logs) / std::sqrt(static_cast<double>(logs.size()));
  const double centre = mean(logs);
  return Ratio{ratio, std::min(ratio, std::exp(centre - half)), std::max(ratio, std::exp(centre + half)),
               static_cast<int>(logs.size())};
}

int bursts_needed(const std::vector<Burst>& pilot, double relative_width, int at_least, int at_most) {
  std::vector<double> means;
  for (const auto& burst : pilot) {
    if (!burst.empty()) means.push_back(mean(burst));
  }
  if (means.size() < 2) return at_least;
  // Width 2 * 1.96 * s / sqrt(n) <= relative_width * mean, solved for n.
  const double needed = std::pow(2 * 1.96 * deviation(means) / (relative_width * mean(means)), 2);
  if (!(needed < at_most)) return at_most;
  return std::clamp(static_cast<int>(std::ceil(needed)), at_least, at_most);
}

}  // namespace kagent
