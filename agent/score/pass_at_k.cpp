#include "agent/score/pass_at_k.h"

namespace kagent::score {

double pass_at_k(int n, int c, int k) {
  // C(n-c, k) / C(n, k), factor by factor: the chance that k draws without replacement all miss.
  double all_miss = 1;
  for (int drawn = 0; drawn < k; ++drawn) {
    if (n - c - drawn <= 0) return 1;
    all_miss *= static_cast<double>(n - c - drawn) / (n - drawn);
  }
  return 1 - all_miss;
}

}  // namespace kagent::score
