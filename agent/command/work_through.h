// The main job of `run`, `generate` and `judge-run`: work through a run's tasks, show it, sum it up.
#pragma once

#include "agent/command/judging.h"
#include "agent/command/run_options.h"
#include "agent/suite/suite.h"

namespace kagent {

struct SuiteJob {
  const PlannedRun& planned;
  const run::RunDirectory& run;
  Part part = Part::kAll;
  int in_flight = 8;
  std::optional<double> budget_usd;
  const Judging* judging = nullptr;                       // null: nothing is judged
  std::vector<std::unique_ptr<llm::Provider>> providers;  // empty: nobody is asked
  bool json = false;
  enum class Print { kSummary, kNothing };  // kNothing: but for what could not go on
  Print print = Print::kSummary;
};

// Exit code: 0 every task has ended, 2 some could not go on, 4 waiting, 5 stopped.
int work_through(SuiteJob job);

}  // namespace kagent
