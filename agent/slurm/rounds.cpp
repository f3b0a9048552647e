#include "agent/slurm/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kagent::slurm {

Status judge_in_rounds(Array array, int tasks, const RoundHooks& hooks) {
  if (Status valid = valid_options(array.options); !valid) return valid;
  array.shards = std::clamp(array.shards, 1, std::max(1, tasks));
  int verdicts_before = -1;  // no round yet
  while (true) {
    // Jobs of an earlier command are followed to their end first: they hold the leases of the tasks they judge.
    if (Status gone = follow(array.name, hooks.follow); !gone) return gone;
    Result<Asked> asked = hooks.ask();
    if (!asked) return asked.error();
    if (asked.value().tasks_to_judge.empty()) return Ok{};
    if (asked.value().verdicts == verdicts_before)
      return Error{Code::kIo, fmt::format("a whole round of jobs judged nothing; {} has their logs. The run is whole, "
                                          "and the same command goes on",
                                          array.log_folder)};
    verdicts_before = asked.value().verdicts;
    std::set<int> shards;
    for (const int task : asked.value().tasks_to_judge) shards.insert(task % array.shards);
    array.elements.assign(shards.begin(), shards.end());
    Result<std::string> job = submit(array);
    if (!job) return job.error();
    if (hooks.follow.say)
      hooks.follow.say(fmt::format("submitted job {} with {} elements", job.value(), array.elements.size()));
  }
}

}  // namespace kagent::slurm
