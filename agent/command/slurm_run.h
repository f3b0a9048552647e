// kagent run --slurm: asks the model here, and lets jobs on a cluster judge (agent/slurm/rounds.h, docs/cluster.md).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "agent/command/judging.h"
#include "agent/command/run_options.h"

namespace kagent {

struct SlurmOptions {
  bool use = false;
  int shards = 4;
  std::vector<std::string> options;
};
void add_slurm_options(CLI::App& command, SlurmOptions& options);

// Exit code as work_through's.
int run_by_slurm(const RunOptions& options, const PlannedRun& planned, const run::RunDirectory& run,
                 const JudgeOptions& judging, int in_flight, const SlurmOptions& slurm);

}  // namespace kagent
