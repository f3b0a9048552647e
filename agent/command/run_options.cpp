#include "agent/command/run_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/base/json_text.h"
#include "agent/command/print.h"
#include "agent/command/run_names.h"
#include "agent/llm/estimate.h"
#include "agent/suite/budget.h"

namespace kagent {

using nlohmann::json;

void add_run_options(CLI::App& command, RunOptions& options) {
  command.add_option("--run", options.run, "the run's name (runs/NAME) or folder; the same one resumes")
      ->required()
      ->type_name("RUN")
      ->check(not_blank());
  command.add_option("--level", options.level, "all tasks of this level")->check(whole_between(1, 4));
  command.add_option("--tasks", options.tasks, "these tasks, e.g. 3/1,3/9")->delimiter(',')->type_name("TASK,...");
  command
      .add_option("--suite", options.suite,
                  "a KernelBench or KernelBench-Verified checkout instead of the built-in tasks")
      ->type_name("DIR")
      ->check(not_blank());
  command.add_flag("--small", options.small, "the tasks' small forms: for machines without a GPU; never counts");
  command
      .add_option("--budget-usd", options.budget_usd,
                  "ask nothing more when the next reply could pass this (needs a price and --max-tokens)")
      ->check(us_dollars());
  command.add_option("--in-flight", options.in_flight, "tasks worked on at a time")
      ->check(whole_between(1, 256))
      ->capture_default_str();
  add_config_option(command, options.config);
  command.add_flag("--dry-run", options.dry_run, "print tasks, prompt tokens and a cost bound; ask nobody");
  command.add_flag("--json", options.json, "print the result as one JSON object");
  add_sampling_options(command, options);
}

Result<std::vector<Task>> find_tasks(const TaskSource& source, const std::optional<int>& level,
                                     const std::vector<std::string>& ids) {
  std::vector<std::string> wanted;
  if (level) {
    Result<std::vector<TaskInfo>> all = list_tasks(source);
    if (!all) return all.error();
    for (const TaskInfo& info : all.value()) {
      if (info.level == *level) wanted.push_back(info.id);
    }
    if (wanted.empty())
      return Error{Code::kUsage, fmt::format("there is no task of level {}; `kagent tasks` lists what is there, and "
                                             "--suite DIR takes a checkout",
                                             *level)};
  }
  wanted.insert(wanted.end(), ids.begin(), ids.end());
  if (wanted.empty()) return Error{Code::kUsage, "which tasks? give --level 3, or --tasks 3/1,3/9"};
  std::vector<Task> tasks;
  for (const std::string& id : wanted) {
    if (id.empty()) return Error{Code::kUsage, "--tasks holds an empty name; write it like --tasks 3/1,3/9"};
    const bool again = std::any_of(tasks.begin(), tasks.end(), [&](const Task& t) { return t.id == id; });
    if (again) continue;
    Result<Task> task = find_task(source, id);
    if (!task) return task.error();
    tasks.push_back(std::move(task).value());
  }
  return tasks;
}

Result<PlannedRun> plan_run(const RunOptions& options) {
  PlannedRun planned;
  Result<Installation> installation = find_installation();
  if (!installation) return installation.error();
  planned.installation = installation.value();
  TaskOptions task_options;
  task_options.suite = options.suite;
  task_options.small = options.small;
  Result<std::vector<Task>> tasks =
      find_tasks(task_source(task_options, planned.installation), options.level, options.tasks);
  if (!tasks) return tasks.error();
  planned.tasks = std::move(tasks).value();
  Result<PromptSet> prompts = load_prompt_set(planned.installation.root, options.prompt_set);
  if (!prompts) return prompts.error();
  planned.prompts = std::move(prompts).value();
  Result<llm::PriceList> prices = llm::load_prices(llm::price_files(planned.installation.root));
  if (!prices) return prices.error();
  planned.price = price_of_model(prices.value(), options.model);
  if (Status possible = suite::Budget::possible(options.budget_usd, planned.price, options.request.max_tokens);
      !possible)
    return possible.error();
  Result<SolveSettings> settings = solve_settings(options);
  if (!settings) return settings.error();
  planned.solve = std::move(settings).value();
  return planned;
}

namespace {

json identity_of(const RunOptions& options, const PlannedRun& planned) {
  json ids = json::array();
  json hashes = json::object();
  for (const Task& task : planned.tasks) {
    ids.push_back(task.id);
    hashes[task.id] = task.source_sha256;
  }
  json identity = sampling_identity(options, planned.prompts);
  identity.update({{"kind", "run"}, {"tasks", ids}, {"task_sha256", hashes}, {"small", options.small}});
  return identity;
}

}  // namespace

Result<run::RunDirectory> open_run(const RunOptions& options, const PlannedRun& planned, const json& device,
                                   const std::string& backend) {
  const json facts = {{"kagent", "0.1.0"}, {"device", device}, {"backend", backend}};
  return run::RunDirectory::create_or_resume(run_folder(options.run), identity_of(options, planned), facts);
}

Result<std::vector<std::unique_ptr<llm::Provider>>> make_providers(const RunOptions& options, int threads) {
  std::vector<std::unique_ptr<llm::Provider>> providers;
  for (int i = 0; i < threads; ++i) {
    auto provider = llm::make_provider(options.model, provider_settings(options.request));
    if (!provider) return provider.error();
    providers.push_back(std::move(provider).value());
  }
  if (Status usable = providers.front()->check(); !usable) return usable.error();
  return providers;
}

namespace {

int print_dry_run(const RunOptions& options, const PlannedRun& planned, const json& device) {
  json tasks = json::array();
  std::int64_t tokens = 0;
  std::optional<double> bound = 0.0;
  for (const Task& task : planned.tasks) {
    Result<std::string> prompt = first_prompt(task, planned.prompts, device, planned.solve);
    if (!prompt) return fail(prompt.error());
    const std::int64_t count = llm::estimate_tokens(prompt.value());
    tasks.push_back({{"task", task.id}, {"name", task.name}, {"prompt_tokens", count}});
    tokens += count * options.samples;
    const auto each = llm::cost_bound_usd(planned.price, count, options.request.max_tokens);
    bound = bound && each ? std::optional(*bound + *each * options.samples) : std::nullopt;
  }
  if (options.json) {
    const json out = {
        {"tasks", tasks}, {"first_prompt_tokens", tokens}, {"cost_bound_usd", bound ? json(*bound) : json()}};
    fmt::print("{}\n", pretty(out));
    return 0;
  }
  for (const json& task : tasks)
    print_text(stdout, "{:<8} {:<40} about {} tokens\n", printable(task["task"].get<std::string>()),
               printable(task["name"].get<std::string>()), task["prompt_tokens"].dump());
  print_text(stdout, "{} tasks, {} samples each: about {} tokens of first prompts, at most {}{}\n",
             planned.tasks.size(), options.samples, tokens, llm::cost_text(bound),
             bound ? " as first prompts; those with feedback are longer"
                   : " (a bound needs --max-tokens and a price in settings/prices.toml)");
  if (bound && options.budget_usd)
    print_text(stdout, "--budget-usd {} {}\n", llm::cost_text(*options.budget_usd),
               *bound <= *options.budget_usd ? "holds that" : "does not hold that: the run would stop short");
  return 0;
}

}  // namespace

int dry_run(const RunOptions& options, const PlannedRun& planned, const json& device) {
  if (const int failed = print_dry_run(options, planned, device); failed != 0) return failed;
  return check_dry_run(options, run_folder(options.run), identity_of(options, planned));
}

}  // namespace kagent
