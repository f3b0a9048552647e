#include "agent/command/slurm_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "agent/command/commands.h"
#include "agent/command/interrupt.h"
#include "agent/command/print.h"
#include "agent/command/progress.h"
#include "agent/command/work_through.h"
#include "agent/slurm/rounds.h"

namespace kagent {
namespace {

namespace fs = std::filesystem;

// What the logs say is there to judge.
Result<slurm::Asked> standing_of(const run::RunDirectory& run) {
  slurm::Asked asked;
  const nlohmann::json& ids = run.manifest()["identity"]["tasks"];
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Result<run::Chain> chain = run.read_task(ids[i].get<std::string>());
    if (!chain && chain.error().code == Code::kNotFound) continue;
    if (!chain) return chain.error();
    bool to_judge = false;
    for (const run::SampleState& sample : run::state_of(chain.value().events).samples) {
      asked.verdicts += sample.verdict ? 1 : 0;
      to_judge = to_judge || (sample.reply && !sample.verdict);
    }
    if (to_judge) asked.tasks_to_judge.push_back(static_cast<int>(i));
  }
  return asked;
}

std::vector<std::string> element_command(const RunOptions& options, const std::string& run_folder,
                                         const JudgeOptions& judging) {
  std::error_code failed;
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe", failed).string(), "judge-run", run_folder,
                                    "--backend", judging.backend};
  if (!options.suite.empty()) words.insert(words.end(), {"--suite", fs::absolute(options.suite, failed).string()});
  if (!judging.arch.empty()) words.insert(words.end(), {"--arch", judging.arch});
  if (judging.check) words.emplace_back("--check");
  if (judging.all_rules) words.emplace_back("--all-rules");
  if (judging.no_profile) words.emplace_back("--no-profile");
  return words;
}

}  // namespace

void add_slurm_options(CLI::App& command, SlurmOptions& options) {
  CLI::Option* use = command.add_flag("--slurm", options.use, "judge by Slurm jobs; the model is asked here");
  command.add_option("--slurm-shards", options.shards, "at most so many jobs at a time, each with its tasks")
      ->check(whole_between(1, 1000))
      ->needs(use)
      ->capture_default_str();
  command
      .add_option("--slurm-option", options.options,
                  "passed on to sbatch, e.g. partition=gpu or gres=gpu:1; again for more")
      ->type_name("KEY[=VALUE]")
      ->allow_extra_args(false)
      ->needs(use);
}

int run_by_slurm(const RunOptions& options, const PlannedRun& planned, const run::RunDirectory& run,
                 const JudgeOptions& judging, int in_flight, const SlurmOptions& slurm) {
  std::error_code failed;
  const std::string folder = fs::absolute(run.folder(), failed).string();
  const slurm::Array array{slurm::array_name(run.manifest_sha256()),
                           element_command(options, folder, judging),
                           slurm.shards,
                           {},
                           folder + "/slurm",
                           slurm.options};
  ProgressLine progress(ProgressLine::Show::kYes);
  std::optional<StopOnInterrupt> interrupt(std::in_place);
  int asked_with = 0;
  const slurm::RoundHooks hooks{
      [&]() -> Result<slurm::Asked> {
        auto providers = make_providers(options, in_flight);
        if (!providers) return providers.error();
        interrupt.reset();  // work_through has its own
        asked_with = work_through({planned, run, Part::kGenerate, in_flight, options.budget_usd, nullptr,
                                   std::move(providers).value(), options.json, SuiteJob::Print::kNothing});
        const bool stopped = asked_with == kExitStopped && StopOnInterrupt::asked();
        interrupt.emplace();
        if (stopped) return Error{Code::kCancelled, "stopped; the same command goes on"};
        return standing_of(run);
      },
      {[] { return StopOnInterrupt::asked(); }, [&](std::string_view line) { progress.say(line); }}};
  const Status done = slurm::judge_in_rounds(array, static_cast<int>(planned.tasks.size()), hooks);
  interrupt.reset();
  if (!done && done.error().code != Code::kCancelled) return fail(done.error());
  if (!done) {
    print_text(stderr, "kagent: {}\n", done.error().message);
    return kExitStopped;
  }
  // Nothing is left to judge, so this asks nobody and judges nothing: it says how the run stands.
  const int stands = work_through({planned, run, Part::kJudge, in_flight, std::nullopt, nullptr, {}, options.json});
  return asked_with == kExitError || asked_with == kExitStopped ? asked_with : stands;
}

}  // namespace kagent
