// kagent solve: the whole loop on one task.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "agent/base/json_text.h"
#include "agent/command/commands.h"
#include "agent/command/interrupt.h"
#include "agent/command/options.h"
#include "agent/command/print.h"
#include "agent/command/progress.h"
#include "agent/command/recorded.h"
#include "agent/command/run_names.h"
#include "agent/command/sampling_options.h"
#include "agent/command/verdict_text.h"
#include "agent/llm/estimate.h"
#include "agent/run/run_directory.h"

namespace kagent {
namespace {

using nlohmann::json;

struct Options : SamplingOptions {
  TaskOptions task;
  JudgeOptions judge;
  std::string run;
  std::string config;  // read before the command line is parsed: config_file.h
  bool dry_run = false;
  bool json_output = false;
};

std::string folder_of_run(const Options& options, const std::string& task_id) {
  return options.run.empty() ? default_run_folder(task_id, options.model) : run_folder(options.run);
}

json identity_of(const Options& options, const Task& task, const PromptSet& prompts) {
  json identity = sampling_identity(options, prompts);
  identity.update({{"kind", "solve"}, {"tasks", {task.id}}, {"task_sha256", task.source_sha256}});
  return identity;
}

int print_dry_run(const Options& options, const Task& task, const PromptSet& prompts, const json& device,
                  const SolveSettings& settings, const std::optional<llm::Price>& price) {
  Result<std::string> prompt = first_prompt(task, prompts, device, settings);
  if (!prompt) return fail(prompt.error());
  const std::int64_t tokens = llm::estimate_tokens(prompt.value());
  const auto bound = llm::cost_bound_usd(price, tokens, options.request.max_tokens);
  const auto all = bound ? std::optional<double>(*bound * options.samples) : std::nullopt;
  if (options.json_output) {
    const json out = {{"task", task.id},
                      {"prompt", prompt.value()},
                      {"prompt_tokens", tokens},
                      {"samples", options.samples},
                      {"cost_bound_usd", all ? json(*all) : json()}};
    fmt::print("{}\n", pretty(out));
  } else {
    print_stored(prompt.value());
    std::fflush(stdout);
    print_text(stderr, "about {} tokens; at most {} for {} first-sample requests{}\n", tokens, llm::cost_text(all),
               options.samples, all ? "" : " (needs --max-tokens and a price in settings/prices.toml)");
  }
  return 0;
}

// What became of the run: for --json, and in words.
json summary_of(const run::TaskLog& log, const std::string& folder, SolveEnd end) {
  json samples = json::array();
  json best;
  for (const run::SampleState& sample : log.state().samples) {
    if (!sample.verdict) continue;
    const json verdict = sample.verdict->value("verdict", json::object());
    const json line = {{"sample", sample.number},
                       {"outcome", text_or(verdict, "outcome", "")},
                       {"backend", text_or(verdict, "backend", "")},
                       {"faster", flag_or(verdict, "faster", false)},
                       {"speedup", verdict.value("speedup", json())},
                       {"stage", verdict.value("stage", json())},
                       {"reason", verdict.value("reason", json())}};
    samples.push_back(line);
    const bool accepted = line["outcome"] == "accepted" && line["speedup"].is_number();
    if (accepted && (best.is_null() || line["speedup"].get<double>() > best["speedup"].get<double>())) best = line;
  }
  return {{"task", log.task_id()}, {"run", folder}, {"end", to_string(end)},
          {"samples", samples},    {"best", best},  {"head", log.head()}};
}

void print_summary(const json& summary) {
  for (const json& s : summary["samples"]) {
    const std::string speed =
        s["speedup"].is_number() ? fmt::format(", {:.2f}x eager", s["speedup"].get<double>()) : "";
    const std::string why = s["reason"].is_string() ? ": " + printable(s["reason"].get<std::string>()) : "";
    const bool emulated = s["backend"] == "emulate" && s["outcome"] == "accepted";
    print_text(stdout, "sample {}: {}{}{}{}{}\n", s["sample"].dump(), s["outcome"].get<std::string>(),
               emulated ? " by emulation: right on this CPU" : "", s["faster"].get<bool>() ? ", faster" : "", speed,
               why);
  }
  std::string end = summary["end"].get<std::string>();
  std::replace(end.begin(), end.end(), '_', ' ');
  if (end == to_string(SolveEnd::kUndecided)) end += ": whether it is faster, only a GPU can tell";
  print_text(stdout, "{}: {}; `kagent show {}` tells the rest\n", name_text(summary["task"].get<std::string>()), end,
             name_text(summary["run"].get<std::string>()));
}

int exit_code_of(SolveEnd end) {
  switch (end) {
    case SolveEnd::kSolved:
      return 0;
    case SolveEnd::kNotSolved:
      return 1;
    case SolveEnd::kUndecided:
      return 3;
    case SolveEnd::kWaiting:
      return kExitWaiting;
    case SolveEnd::kStopped:
      return kExitStopped;
  }
  return kExitError;
}

int run_solve(const Options& options, const Installation& installation, const Task& task, const PromptSet& prompts,
              const SolveSettings& settings, const std::optional<llm::Price>& price) {
  auto provider = llm::make_provider(options.model, provider_settings(options.request));
  if (!provider) return fail(provider.error());
  if (Status recorded = holds_reply(options.model, task.id); !recorded) return fail(recorded.error());
  Result<JudgeSettings> judge_with = judge_settings(options.judge, options.task, task.path);
  if (!judge_with) return fail(judge_with.error());
  judge_with.value().more_answers = options.samples > 1;

  ProgressLine progress(ProgressLine::Show::kYes);
  progress.set_subject(task.id);
  const std::string folder = folder_of_run(options, task.id);
  json facts = {{"kagent", "0.1.0"}};
  if (auto existing = run::RunDirectory::open(folder); !existing) {
    progress.say("looking at the machine");
    if (Status usable = provider.value()->check(); !usable) return fail(usable.error());
    Result<json> device = probe_device(installation, judge_with.value().crew);
    if (!device) return fail(device.error());
    facts["device"] = device.value();
    facts["backend"] = judge_with.value().crew.backend;
  }
  auto run = run::RunDirectory::create_or_resume(folder, identity_of(options, task, prompts), facts);
  if (!run) return fail(run.error());
  auto log = run.value().open_task(task.id);
  if (!log) return fail(log.error());

  const SolveContext context{task, prompts, run.value().manifest()["facts"].value("device", json::object()),
                             *log.value(), settings};
  const Say say = [&](std::string_view what) { progress.say(what); };
  std::shared_ptr<Judge> judge;
  const OpenJudge open_judge = [&]() -> Result<JudgeAnswer> {
    auto opened = Judge::open(installation, judge_with.value(), task.id, say);
    if (!opened) return opened.error();
    judge = std::move(opened).value();
    return JudgeAnswer([&judge](const Program& program, const Seeds& seeds, Artifacts& artifacts) {
      return judge->judge(program, seeds, artifacts);
    });
  };
  const StopOnInterrupt interrupt;
  Result<SolveEnd> end = solve(context, provider.value().get(),
                               {open_judge, price_by(price), say, [] { return StopOnInterrupt::asked(); }});
  if (!end) return fail(end.error().within(fmt::format("{} is whole and resumes with the same command", folder)));
  const json summary = summary_of(*log.value(), folder, end.value());
  if (options.json_output) {
    fmt::print("{}\n", pretty(summary));
  } else {
    print_summary(summary);
  }
  return exit_code_of(end.value());
}

int solve_task(const Options& options) {
  Result<Installation> installation = find_installation();
  if (!installation) return fail(installation.error());
  Result<Task> task = find_task(task_source(options.task, installation.value()), options.task.task);
  if (!task) return fail(task.error());
  Result<PromptSet> prompts = load_prompt_set(installation.value().root, options.prompt_set);
  if (!prompts) return fail(prompts.error());
  Result<llm::PriceList> prices = llm::load_prices(llm::price_files(installation.value().root));
  if (!prices) return fail(prices.error());
  const std::optional<llm::Price> price = price_of_model(prices.value(), options.model);
  Result<SolveSettings> settings = solve_settings(options);
  if (!settings) return fail(settings.error());
  if (!options.dry_run)
    return run_solve(options, installation.value(), task.value(), prompts.value(), settings.value(), price);

  Result<JudgeSettings> judge_with = judge_settings(options.judge, options.task, task.value().path);
  if (!judge_with) return fail(judge_with.error());
  Result<json> device = probe_device(installation.value(), judge_with.value().crew);
  if (!device) return fail(device.error());
  if (const int failed = print_dry_run(options, task.value(), prompts.value(), device.value(), settings.value(), price);
      failed != 0)
    return failed;
  const json identity = identity_of(options, task.value(), prompts.value());
  if (const int failed = check_dry_run(options, folder_of_run(options, task.value().id), identity); failed != 0)
    return failed;
  const Status recorded = holds_reply(options.model, task.value().id);
  return recorded ? 0 : fail(recorded.error());
}

}  // namespace

void add_solve(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("solve",
                                             "let a model solve a task in at most 5 samples (exit 0 accepted and "
                                             "faster, 1 not, 2 error, 3 undecided, 4 waiting, 5 stopped)");
  add_task_options(*command, options->task);
  command
      ->add_option("--run", options->run,
                   "the run's name (runs/NAME) or folder; the same one resumes (default runs/TASK-MODEL)")
      ->type_name("RUN")
      ->check(not_blank());
  add_config_option(*command, options->config);
  command->add_flag("--dry-run", options->dry_run, "print the first prompt, its tokens and a cost bound; ask nobody");
  add_sampling_options(*command, *options);
  add_judge_options(*command, options->judge);
  command->add_flag("--json", options->json_output, "print the result as one JSON object");
  command->footer(
      "Examples:\n  kagent solve --task 3/9 --model anthropic:NAME\n  kagent solve --task 3/4 --model openai:NAME "
      "--base-url http://localhost:8000\n"
      "  kagent solve --task 3/50 --model spool:answers --no-wait\n  kagent solve --task 3/9 --model openai:NAME "
      "--dry-run");
  command->callback([options, &exit_code] { exit_code = solve_task(*options); });
}

}  // namespace kagent
