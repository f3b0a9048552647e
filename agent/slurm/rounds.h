// A run over a cluster, in rounds: ask the model here for all that can be asked, judge all answers there, again.
//
// Nothing is kept but the run's log: a command that was stopped, or whose machine went down, finds its jobs by their
// name; an element that was killed, or whose node failed, is requeued by Slurm or submitted again in the next round.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/slurm/follow.h"
#include "agent/slurm/submit.h"

namespace kagent::slurm {

// How the run stands once all that can be asked now has been asked.
struct Asked {
  std::vector<int> tasks_to_judge;  // by their place in the manifest: those with an answer that has no verdict
  int verdicts = 0;                 // in the whole run
};

struct RoundHooks {
  // Asks the model. It holds tasks' leases only while no element runs. Errors: kCancelled (stopped), its own.
  std::function<Result<Asked>()> ask;
  FollowHooks follow;
};

// `array.elements` is filled in for each round; `tasks`: how many the manifest has. Returns once nothing is left to
// judge. Errors: the hooks', submit's and follow's; kIo if a whole round judged nothing (names the logs).
Status judge_in_rounds(Array array, int tasks, const RoundHooks& hooks);

}  // namespace kagent::slurm
