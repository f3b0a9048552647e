// kagent run: many tasks, from prompts to verdicts; kagent generate and kagent judge-run: the halves of it.

#include <fmt/format.h>

#include <algorithm>

#include "agent/base/json_text.h"
#include "agent/base/printable.h"
#include "agent/command/commands.h"
#include "agent/command/run_names.h"
#include "agent/command/slurm_run.h"
#include "agent/command/work_through.h"
#include "agent/slurm/rounds.h"

namespace kagent {
namespace {

struct Options {
  RunOptions run;
  JudgingOptions judging;
  SlurmOptions slurm;
};

int in_flight_of(const RunOptions& options, const PlannedRun& planned) {
  return std::clamp(options.in_flight, 1, static_cast<int>(planned.tasks.size()));
}

// `part`: kAll or kGenerate.
int run_tasks(const Options& options, Part part) {
  Result<PlannedRun> planned = plan_run(options.run);
  if (!planned) return fail(planned.error());
  Result<Judging> judging = Error{};
  std::string backend = "none";
  Result<nlohmann::json> device = Error{};
  if (part == Part::kAll && !options.slurm.use) {
    judging = judging_here(options.judging, options.run.small, planned.value().installation);
    if (!judging) return fail(judging.error());
    backend = judging.value().settings.crew.backend;
    device = judging.value().settings.crew.device;
  } else {  // where nothing is judged, prompts describe the GPU that --arch names
    CrewSpec prompted;
    prompted.backend = backend;
    prompted.arch = options.judging.judge.arch;
    device = probe_device(planned.value().installation, prompted);
    if (!device) return fail(device.error());
  }
  const int in_flight = in_flight_of(options.run, planned.value());
  if (options.slurm.use) {
    if (Status valid = slurm::valid_options(options.slurm.options); !valid) return fail(valid.error());
    if (auto queue = slurm::queued("kagent"); !queue) return fail(queue.error());  // before anything is paid for
  }
  if (options.run.dry_run) return dry_run(options.run, planned.value(), device.value());
  auto providers = make_providers(options.run, in_flight);
  if (!providers) return fail(providers.error());
  Result<run::RunDirectory> directory = open_run(options.run, planned.value(), device.value(), backend);
  if (!directory) return fail(directory.error());
  if (options.slurm.use) {
    return run_by_slurm(options.run, planned.value(), directory.value(), options.judging.judge, in_flight,
                        options.slurm);
  }
  return work_through({planned.value(), directory.value(), part, in_flight, options.run.budget_usd,
                       part == Part::kAll ? &judging.value() : nullptr, std::move(providers).value(),
                       options.run.json});
}

struct JudgeRunOptions {
  std::string run;
  std::vector<std::string> tasks;
  std::string suite;
  std::string shard = "0/1";
  bool json = false;
  JudgingOptions judging;
};

// "i/n": every n-th task from the i-th on. Errors: kUsage.
Result<std::pair<std::size_t, std::size_t>> shard_of(const std::string& text) {
  std::size_t i = 0;
  std::size_t n = 0;
  int read = 0;
  const bool two = std::sscanf(text.c_str(), "%4zu/%4zu%n", &i, &n, &read) == 2;
  if (!two || static_cast<std::size_t>(read) != text.size() || n == 0 || i >= n)
    return Error{Code::kUsage,
                 fmt::format("--shard wants i/n with i from 0 to n-1, such as 0/4, not {}", name_text(text))};
  return std::pair(i, n);
}

std::string hash_in(const nlohmann::json& identity, const std::string& id) {
  const auto found = identity.find("task_sha256");
  if (found == identity.end()) return "";
  return found->is_string() ? found->get<std::string>() : text_or(*found, id.c_str(), "");
}

// The run's own tasks, as they were when it began. Errors: kUsage (no task of the run; changed since).
Result<PlannedRun> plan_judging(const JudgeRunOptions& options, const run::RunDirectory& directory) {
  const nlohmann::json& identity = directory.manifest()["identity"];
  const auto [shard, shards] = shard_of(options.shard).value();
  std::vector<std::string> ids = identity["tasks"].get<std::vector<std::string>>();
  for (const std::string& id : options.tasks) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end())
      return Error{Code::kUsage, fmt::format("{} is no task of {}", name_text(id), name_text(directory.folder()))};
  }
  if (!options.tasks.empty()) {  // each once, in the run's order
    const auto unasked = [&](const std::string& id) {
      return std::find(options.tasks.begin(), options.tasks.end(), id) == options.tasks.end();
    };
    ids.erase(std::remove_if(ids.begin(), ids.end(), unasked), ids.end());
  }
  PlannedRun planned;
  Result<Installation> installation = find_installation();
  if (!installation) return installation.error();
  planned.installation = installation.value();
  TaskOptions task_options;
  task_options.suite = options.suite;
  task_options.small = flag_or(identity, "small", false);
  for (std::size_t i = shard; i < ids.size(); i += shards) {
    Result<Task> task = find_task(task_source(task_options, planned.installation), ids[i]);
    if (!task) return task.error();
    if (task.value().source_sha256 != hash_in(identity, ids[i]))
      return Error{Code::kUsage, fmt::format("{} is not the text that {} was begun with; give the suite of then with "
                                             "--suite, or check out that version of kagent",
                                             task.value().path, directory.folder())};
    planned.tasks.push_back(std::move(task).value());
  }
  planned.solve.max_samples = static_cast<int>(std::clamp<std::int64_t>(integer_or(identity, "samples", 5), 1, 5));
  planned.solve.protocol = protocol_of(text_or(identity, "protocol", ""));
  planned.solve.stop_when_faster = flag_or(identity, "stop_when_faster", false);
  return planned;
}

int judge_run(const JudgeRunOptions& options) {
  if (Result<std::pair<std::size_t, std::size_t>> shard = shard_of(options.shard); !shard) return fail(shard.error());
  Result<run::RunDirectory> directory = open_run_folder(options.run);
  if (!directory) return fail(directory.error());
  Result<PlannedRun> planned = plan_judging(options, directory.value());
  if (!planned) return fail(planned.error());
  const bool small = flag_or(directory.value().manifest()["identity"], "small", false);
  Result<Judging> judging = judging_here(options.judging, small, planned.value().installation);
  if (!judging) return fail(judging.error());
  // Threads wait for a builder or a GPU: more than both bring nothing.
  const int in_flight = std::clamp(static_cast<int>(planned.value().tasks.size()), 1, 32);
  return work_through(
      {planned.value(), directory.value(), Part::kJudge, in_flight, std::nullopt, &judging.value(), {}, options.json});
}

}  // namespace

void add_run(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand(
      "run", "many tasks at once, resumable (exit 0 every task has ended, 2 error, 4 waiting, 5 stopped)");
  add_run_options(*command, options->run);
  add_judging_options(*command, options->judging);
  add_slurm_options(*command, options->slurm);
  command->footer(
      "Examples:\n  kagent run --level 3 --model anthropic:NAME --run first\n  kagent run --tasks 3/1,3/9 --model "
      "spool:answers --no-wait --run by-hand\n  kagent run --config suite.toml --run second --budget-usd 20");
  command->callback([options, &exit_code] { exit_code = run_tasks(*options, Part::kAll); });
}

void add_halves(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* generate = program.add_subcommand(
      "generate", "the half of `run` that asks the model: needs no GPU (exit 0 every task has ended, 4 waiting)");
  add_run_options(*generate, options->run);
  generate->add_option("--arch", options->judging.judge.arch,
                       "a new run's prompts describe this GPU architecture (default sm_90a)");
  generate->footer("Example:\n  kagent generate --level 3 --model anthropic:NAME --run first");
  generate->callback([options, &exit_code] { exit_code = run_tasks(*options, Part::kGenerate); });

  auto judge_options = std::make_shared<JudgeRunOptions>();
  CLI::App* judge = program.add_subcommand(
      "judge-run", "the half of `run` that judges: needs no model and no internet (exit as generate)");
  add_run_argument(*judge, judge_options->run, RunUse::kChange);
  judge->add_option("--tasks", judge_options->tasks, "only these of the run's tasks")->delimiter(',');
  judge->add_option("--suite", judge_options->suite, "the checkout that the run's tasks are from")
      ->type_name("DIR")
      ->check(not_blank());
  judge->add_option("--shard", judge_options->shard, "every n-th task from the i-th on: for several machines")
      ->type_name("i/n")
      ->capture_default_str();
  add_judging_options(*judge, judge_options->judging);
  judge->add_flag("--json", judge_options->json, "print the result as one JSON object");
  judge->footer("Example:\n  kagent judge-run runs/first");
  judge->callback([judge_options, &exit_code] { exit_code = judge_run(*judge_options); });
}

}  // namespace kagent
