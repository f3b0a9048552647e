#include "agent/score/share.h"

#include <algorithm>
#include <cmath>

namespace kagent::score {

double Share::value() const { return of > 0 ? static_cast<double>(hits) / of : 0; }

std::optional<Interval> Share::interval() const {
  if (of <= 0) return std::nullopt;
  constexpr double kZ = 1.959963984540054;  // the normal distribution's 97.5% quantile
  const double n = of;
  const double p = value();
  const double shrink = 1 + kZ * kZ / n;
  const double centre = (p + kZ * kZ / (2 * n)) / shrink;
  const double half = kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n)) / shrink;
  return Interval{std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

}  // namespace kagent::score
