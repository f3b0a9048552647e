// Which sample of a task stands for it.
#pragma once

#include <functional>
#include <string>

#include "agent/score/read_run.h"

namespace kagent::score {

using Which = std::function<bool(const Sample&)>;

// The best of the chosen correct samples: one that counts before one that does not, a measured one before one that is
// not, then the greater speed-up over eager (so KernelBench: the fastest correct one), then the earlier. One sample
// stands for its task against every baseline. nullptr: none of them is correct.
const Sample* best_of(const Task& task, const Which& which);

// The speed-up over the baseline that was fastest in this sample's measurement, and that baseline's name.
struct Against {
  std::string name;
  Speedup speedup;
};
std::optional<Against> against_fastest(const Sample& sample);
// The same among those that are known to pass the official check; nothing: none is.
std::optional<Against> against_fastest_official(const Sample& sample);

}  // namespace kagent::score
