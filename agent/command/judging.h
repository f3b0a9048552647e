// How a run's answers are judged on this machine: --gpus, --backend and the rest, and what was found here.
#pragma once

#include "agent/command/options.h"

namespace kagent {

struct JudgingOptions {
  JudgeOptions judge;
  std::vector<std::string> gpus;  // empty: all that this process may use
};
void add_judging_options(CLI::App& command, JudgingOptions& options);

struct Judging {
  JudgeSettings settings;  // crew.device is known
  std::vector<std::string> gpus;
};
// Errors: judge_settings'; kUsage (GPUs of different models); probe_device's.
Result<Judging> judging_here(const JudgingOptions& options, bool small, const Installation& installation);

}  // namespace kagent
