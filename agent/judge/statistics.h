// Statistics of timed runs. Times in milliseconds.
#pragma once

#include <optional>
#include <vector>

namespace kagent {

struct Summary {
  double mean_ms = 0;
  double median_ms = 0;
  double min_ms = 0;
  int runs = 0;
};

// A ratio of mean times with its 95% interval.
struct Ratio {
  double ratio = 0;
  double low = 0;
  double high = 0;
  int pairs = 0;  // pairs of bursts
};

// One burst: the runs of one process in its turn, its first (warming) run already dropped.
using Burst = std::vector<double>;

// Precondition: at least one run in all bursts together.
Summary summarise(const std::vector<Burst>& bursts);

// baseline / candidate, paired burst by burst (bursts of one round ran next to each other, so slow drifts of clocks
// cancel). The point estimate is the ratio of means, which is what KernelBench reports; the interval is Student's t on
// the logarithms of the bursts' ratios (the runs inside a burst are not independent, the bursts nearly are). nullopt
// under two pairs.
std::optional<Ratio> ratio_of(const std::vector<Burst>& baseline, const std::vector<Burst>& candidate);

// How many bursts make the 95% interval of the baseline's own mean narrower than `relative_width` in all, by the spread
// of its pilot bursts. Never looks at a candidate. At least `at_least`, at most `at_most`.
int bursts_needed(const std::vector<Burst>& pilot, double relative_width, int at_least, int at_most);

}  // namespace kagent
