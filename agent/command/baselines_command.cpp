// kagent baselines: what PyTorch itself makes of tasks on this machine, measured once and kept.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "agent/base/clock.h"
#include "agent/base/json_text.h"
#include "agent/command/baselines_text.h"
#include "agent/command/commands.h"
#include "agent/command/options.h"
#include "agent/command/print.h"
#include "agent/command/progress.h"
#include "agent/command/run_options.h"
#include "agent/judge/baseline_cache.h"
#include "agent/judge/baselines.h"
#include "agent/judge/gpu_lock.h"

namespace kagent {
namespace {

using nlohmann::json;

struct Options {
  TaskOptions task;
  std::vector<std::string> tasks;
  std::optional<int> level;
  std::string gpu;
  int deadline_s = 300;
  bool fresh = false;
  bool json = false;
};

Result<std::vector<Task>> chosen(const Options& options, const Installation& installation) {
  const TaskSource source = task_source(options.task, installation);
  if (!options.task.file.empty()) {
    if (options.level || !options.tasks.empty() || !options.task.task.empty())
      return Error{Code::kUsage, "--file is a task of its own: leave --task, --tasks and --level out"};
    Result<Task> task = find_task(source, "");
    if (!task) return task.error();
    return std::vector<Task>{task.value()};
  }
  std::vector<std::string> ids = options.tasks;
  if (!options.task.task.empty()) ids.insert(ids.begin(), options.task.task);
  return find_tasks(source, options.level, ids);
}

// The kept entry, or nothing: it is to be measured.
std::optional<json> kept(const Installation& installation, const json& key, const Task& task, const Options& options) {
  if (options.fresh) return std::nullopt;
  Result<json> entry = find_baselines(installation.cache, key);
  if (entry) return entry.value();
  if (entry.error().code != Code::kNotFound)
    print_text(stderr, "kagent: {}: measured again: {}\n", task.id, entry.error().message);
  return std::nullopt;
}

Result<json> measure(const Installation& installation, const json& key, const Task& task, const Options& options,
                     const ProgressLine& progress) {
  BaselineSettings settings;
  settings.crew.task_file = task.path;
  settings.crew.gpu = gpu_or_first(options.gpu);
  settings.kind_deadline_s = options.deadline_s;
  Result<json> measured =
      measure_baselines(installation, settings, [&](std::string_view phase) { progress.say(phase); });
  if (!measured) return measured.error();
  json entry = {{"key", key}, {"task", task.id}, {"name", task.name}, {"measured_at", now_utc()}};
  entry.update(measured.value());
  if (baseline_key(entry["environment"], task.source_sha256) != key)
    return Error{Code::kInternal, "the GPU, driver or torch changed while this was measured; measure again"};
  if (Status written = keep_baselines(installation.cache, entry); !written)
    print_text(stderr, "kagent: {}: not kept: {}\n", task.id, written.error().message);
  return entry;
}

int baselines(const Options& options) {
  Result<Installation> installation = find_installation();
  if (!installation) return fail(installation.error());
  Result<std::vector<Task>> tasks = chosen(options, installation.value());
  if (!tasks) return fail(tasks.error());
  if (!machine_has_gpu())
    return fail({Code::kUsage, "baselines are times, and this machine shows no NVIDIA GPU; run `kagent doctor`"});
  const std::string gpu = gpu_or_first(options.gpu);
  ProgressLine progress(ProgressLine::Show::kYes);
  progress.say("waiting for the GPU");
  auto lock = GpuLock::take(gpu, 3600);
  if (!lock) return fail(lock.error());
  CrewSpec spec;
  spec.gpu = gpu;
  Result<json> environment = reference_environment(installation.value(), spec);
  if (!environment) return fail(environment.error());

  json all = json::array();
  int failed = 0;
  for (const Task& task : tasks.value()) {
    progress.set_subject(task.id);
    const json key = baseline_key(environment.value(), task.source_sha256);
    std::optional<json> known = kept(installation.value(), key, task, options);
    Result<json> entry = known ? Result<json>(*known) : measure(installation.value(), key, task, options, progress);
    if (!entry) {
      ++failed;
      fail(entry.error().within(task.id));
      all.push_back({{"task", task.id}, {"error", entry.error().message}});
      continue;
    }
    entry.value()["from_cache"] = known.has_value();
    if (!options.json) print_text(stdout, "{}", baselines_text(entry.value()));
    std::fflush(stdout);
    all.push_back(entry.value());
  }
  if (options.json) fmt::print("{}\n", pretty({{"baselines", all}}));
  return failed == 0 ? 0 : kExitError;
}

}  // namespace

void add_baselines_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand(
      "baselines",
      "time what PyTorch makes of tasks here (eager, graphed, null plan, torch.compile), once, and keep it");
  command->add_option("--task", options->task.task, "level/problem, e.g. 3/9")->type_name("TASK");
  command->add_option("--tasks", options->tasks, "these tasks, e.g. 3/1,3/9")->delimiter(',')->type_name("TASK,...");
  command->add_option("--level", options->level, "all tasks of this level")->check(whole_between(1, 4));
  command
      ->add_option("--suite", options->task.suite,
                   "a KernelBench or KernelBench-Verified checkout instead of the built-in tasks")
      ->type_name("DIR")
      ->check(not_blank());
  command->add_option("--file", options->task.file, "one KernelBench-format file of your own")
      ->type_name("FILE")
      ->check(not_blank());
  add_gpu_option(*command, options->gpu);
  command
      ->add_option("--deadline", options->deadline_s, "seconds for each kind to get ready; torch.compile may need them")
      ->check(whole_between(1, 7200))
      ->capture_default_str();
  command->add_flag("--fresh", options->fresh, "measure anew what is kept");
  command->add_flag("--json", options->json, "one JSON object (docs/baselines.md)");
  command->footer(
      "Examples:\n  kagent baselines --task 3/9\n  kagent baselines --level 3 --json > baselines.json\n  kagent "
      "baselines --file my_model.py --fresh");
  command->callback([options, &exit_code] { exit_code = baselines(*options); });
}

}  // namespace kagent
