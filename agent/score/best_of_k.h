// What more samples bring, for k = 1 to 5.
#pragma once

#include <string>
#include <vector>

#include "agent/score/scores.h"

namespace kagent::score {

// pass@k needs independent samples and as many of them whatever they gave: not where a run stops at a good one. Then
// the best of the first k is as unbiased.
bool pass_at_k_applies(const Asked& asked);

// k goes no further than the samples planned a task. `mixed`: leave geometric means out.
std::vector<BestOfK> best_of_k(const Run& run, bool mixed);

// Why the geometric mean of the best falls where it does, in a line; "" where it never falls.
std::string why_it_falls(const std::vector<BestOfK>& all);

}  // namespace kagent::score
