#include "agent/command/judging.h"

#include <fmt/format.h>

#include "agent/base/json_text.h"
#include "agent/judge/gpus.h"

namespace kagent {

void add_judging_options(CLI::App& command, JudgingOptions& options) {
  add_judge_options(command, options.judge, Gpus::kMany);
  command.add_option("--gpus", options.gpus, "judge on these GPUs (default: all that this process may use)")
      ->delimiter(',')
      ->type_name("N,...")
      ->check(CLI::Validator([](const std::string& text) { return gpu_name_problem(text); }, "", "gpu"));
}

Result<Judging> judging_here(const JudgingOptions& options, bool small, const Installation& installation) {
  TaskOptions task;
  task.small = small;
  if (small && options.judge.backend == "auto" && machine_has_gpu())
    return Error{Code::kUsage, "these are small forms, for machines without a GPU: add --backend emulate"};
  Result<JudgeSettings> settings = judge_settings(options.judge, task, "");
  if (!settings) return settings.error();
  Judging judging{settings.value(), options.gpus};
  if (judging.gpus.empty()) judging.gpus = visible_gpus();
  if (judging.settings.crew.backend != "cuda") judging.gpus.clear();
  CrewSpec& crew = judging.settings.crew;
  if (!judging.gpus.empty()) crew.gpu = judging.gpus.front();
  Result<nlohmann::json> device = probe_device(installation, crew);
  if (!device) return device.error();
  crew.device = device.value();
  for (std::size_t i = 1; i < judging.gpus.size(); ++i) {
    CrewSpec other = crew;
    other.gpu = judging.gpus[i];
    Result<nlohmann::json> facts = probe_device(installation, other);
    if (!facts) return facts.error();
    const std::string name = text_or(facts.value(), "name", "");
    if (name == text_or(crew.device, "name", "")) continue;
    return Error{Code::kUsage, fmt::format("GPU {} is a {}, GPU {} a {}: times on both cannot be compared; choose with "
                                           "--gpus",
                                           crew.gpu, text_or(crew.device, "name", ""), other.gpu, name)};
  }
  return judging;
}

}  // namespace kagent
