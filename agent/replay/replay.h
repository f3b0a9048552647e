// Judges the samples of a run again, without a model, and says what came out otherwise (docs/replay.md). The run is
// only read.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.h"
#include "agent/replay/compare.h"
#include "agent/run/run_directory.h"
#include "agent/solve/solve.h"

namespace kagent::replay {

struct ReplaySettings {
  std::string builtin_tasks;   // the repository's tasks/ folder
  std::string task;            // "" for all
  int sample = 0;              // 0 for all
  std::string small_folder{};  // where small forms of tasks are written
};

struct ReplayedSample {
  std::string task;
  int sample = 1;
  bool task_from_log =
      false;                // judged with the log's copy of the task's file; else with the built-in one, the same text
  nlohmann::json logged;    // the verdicts
  nlohmann::json replayed;  // null: it could not be judged at all
  Comparison comparison;
};

struct Replay {
  std::vector<ReplayedSample> samples;
  int without_verdict = 0;  // replies that were never judged: left out

  [[nodiscard]] int count(Agreement agreement) const;
  // 0 all that could be compared is equal; 1 something differs; 2 none differs, but some could not be judged again; 3
  // nothing could be compared.
  [[nodiscard]] int exit_code() const;
};

// Opens the judge for a task's file; `all_rules`: also those beyond the official check, as a logged verdict had them.
using OpenReplayJudge =
    std::function<Result<JudgeAnswer>(const std::string& task_id, const std::string& task_file, bool all_rules)>;
// After each sample, with all up to it.
using OnSample = std::function<Status(const Replay&)>;

// Errors: kUsage (no such task or sample in the run, no verdict at all), damage of the log, the judge's when it cannot
// be opened, on_sample's. What is wrong with one sample only stands in its comparison.
Result<Replay> replay(const run::RunDirectory& run, const ReplaySettings& settings, const OpenReplayJudge& open_judge,
                      const OnSample& on_sample, const Say& say);

}  // namespace kagent::replay
