// The chance that at least one of k samples is good, from n independent ones of which c are.
#pragma once

namespace kagent::score {

// 1 - C(n-c, k) / C(n, k), the unbiased estimator of Chen et al., "Evaluating Large Language Models Trained on Code"
// (arXiv 2107.03374, equation 1). Precondition: 0 <= c <= n, 1 <= k <= n.
double pass_at_k(int n, int c, int k);

}  // namespace kagent::score
