// What a run over many tasks is: the options that `run` and `generate` share, and what follows from them.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/command/options.h"
#include "agent/command/sampling_options.h"
#include "agent/run/run_directory.h"

namespace kagent {

struct RunOptions : SamplingOptions {
  std::string run;
  std::optional<int> level;
  std::vector<std::string> tasks;  // with `level`: both
  std::string suite;
  bool small = false;
  std::optional<double> budget_usd;
  int in_flight = 8;
  std::string config;  // read before the command line is parsed: config_file.h
  bool dry_run = false;
  bool json = false;
};
void add_run_options(CLI::App& command, RunOptions& options);

// Everything that a run needs and that fails before anything is written or paid for.
struct PlannedRun {
  Installation installation;
  std::vector<Task> tasks;
  PromptSet prompts;
  std::optional<llm::Price> price;
  SolveSettings solve;
};
// Errors: kUsage, kNotFound, kParse.
Result<PlannedRun> plan_run(const RunOptions& options);

// The tasks of these ids, or the whole level. Errors: kUsage, find_task's.
Result<std::vector<Task>> find_tasks(const TaskSource& source, const std::optional<int>& level,
                                     const std::vector<std::string>& ids);

// Opens the run, or creates it with these facts of the device that its prompts describe, and the back end that judges
// it. Errors: RunDirectory's.
Result<run::RunDirectory> open_run(const RunOptions& options, const PlannedRun& planned, const nlohmann::json& device,
                                   const std::string& backend);

// Providers for so many threads. Errors: make_provider's; the first one's check().
Result<std::vector<std::unique_ptr<llm::Provider>>> make_providers(const RunOptions& options, int threads);

// Prints what would be asked and a bound of its cost, and then what the run would stop at before its first request.
// Nobody is asked and nothing is written. Returns the exit code.
int dry_run(const RunOptions& options, const PlannedRun& planned, const nlohmann::json& device);

}  // namespace kagent
