// kagent show RUN [TASK]: what happened, in a page; or one stored text of a sample.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "agent/answer/answer.h"
#include "agent/base/json_text.h"
#include "agent/command/commands.h"
#include "agent/command/options.h"
#include "agent/command/print.h"
#include "agent/command/run_names.h"
#include "agent/command/verdict_text.h"
#include "agent/judge/plan_listing.h"
#include "agent/run/run_directory.h"

namespace kagent {
namespace {

using nlohmann::json;

struct Options {
  std::string run;
  std::string task;
  int sample = 0;  // 0: the last one
  bool prompt = false;
  bool answer = false;
  bool cuda = false;
  bool plan = false;
  bool json_output = false;
};

std::string identity_line(const run::RunDirectory& run) {
  std::string line;
  for (const auto& [key, value] : run.manifest()["identity"].items()) {
    if (value.is_string() && !value.get<std::string>().empty() && value.get<std::string>().size() < 60)
      line += fmt::format("  {}: {}\n", printable(key), printable(value.get<std::string>()));
  }
  return fmt::format("{} (created {})\n{}", name_text(run.folder()), printable(text_or(run.manifest(), "created", "?")),
                     line);
}

std::string reply_line(const run::SampleState& sample) {
  if (!sample.reply) return sample.requests > 0 ? "asked, no answer yet" : "not asked";
  const json& r = *sample.reply;
  const json usage = r.value("usage", json::object());
  const std::string provider = r.value("provider", "");
  const std::string model = r.value("model", "");
  const bool said = model.ends_with("(" + provider + ")");  // "unstated (spool)"
  std::string line = printable(said ? model : fmt::format("{} {}", provider, model));
  if (usage.contains("output_tokens")) line += fmt::format(", {} output tokens", usage["output_tokens"].dump());
  if (sample.requests > 1 && r.value("provider", "") != "spool")
    line += fmt::format(", asked {} times", sample.requests);
  return line;
}

// Which command goes on with a run of this kind.
std::string command_of(const run::RunDirectory& run) {
  const std::string kind = text_or(run.manifest()["identity"], "kind", "");
  if (kind != "run") return kind == "judge" ? "judge" : "solve";
  return text_or(run.manifest()["facts"], "backend", "") == "none" ? "generate (or judge-run)" : "run";
}

std::string task_page(const std::string& id, const run::TaskState& state, int only_sample, const std::string& command) {
  std::string out =
      fmt::format("\n{}{}\n", printable(id),
                  state.ended ? "" : fmt::format("  (not finished: the same {} command goes on)", command));
  for (const run::SampleState& sample : state.samples) {
    if (only_sample != 0 && sample.number != only_sample) continue;
    out += fmt::format("sample {}: {}\n", sample.number, reply_line(sample));
    if (sample.verdict) out += verdict_text(sample.verdict->value("verdict", json::object()));
  }
  return out;
}

// The sample asked for, or the last one. Errors: kUsage.
Result<run::SampleState> chosen_sample(const run::TaskState& state, const Options& options) {
  if (state.samples.empty()) return Error{Code::kUsage, "this task has no samples yet"};
  if (options.sample == 0) return state.samples.back();
  if (options.sample < 1 || options.sample > static_cast<int>(state.samples.size())) {
    return Error{Code::kUsage,
                 fmt::format("there is no sample {}; this task has {}", options.sample, state.samples.size())};
  }
  return state.samples[static_cast<std::size_t>(options.sample - 1)];
}

Result<std::string> stored_text(const run::RunDirectory& run, const run::SampleState& sample, const Options& options) {
  if (options.prompt) return run.blobs().get(sample.prompt_sha256);
  if (!sample.reply) return Error{Code::kUsage, fmt::format("sample {} has no answer yet", sample.number)};
  Result<std::string> raw = run.blobs().get(sample.reply->value("answer_sha256", ""));
  if (!raw || options.answer) return raw;
  if (options.cuda) {
    const answer::Found found = answer::find(raw.value());
    if (const auto* none = std::get_if<answer::NoAnswer>(&found)) return Error{Code::kUsage, none->message};
    return std::get<answer::Answer>(found).cuda;
  }
  const json artifacts = sample.verdict ? sample.verdict->value("artifacts", json::object()) : json::object();
  if (!artifacts.contains("plan.json"))
    return Error{Code::kUsage, fmt::format("sample {} has no plan: it was not traced", sample.number)};
  Result<std::string> plan = run.blobs().get(artifacts["plan.json"].get<std::string>());
  if (!plan) return plan;
  return plan_listing(plan.value());
}

int show(const Options& options) {
  auto opened = open_run_folder(options.run);
  if (!opened) return fail(opened.error());
  const run::RunDirectory& run = opened.value();
  const std::vector<std::string> known = run.tasks();
  const std::vector<std::string> ids = options.task.empty() ? known : std::vector<std::string>{options.task};
  if (!options.task.empty() && std::find(known.begin(), known.end(), options.task) == known.end()) {
    return fail(
        {Code::kUsage, fmt::format("{} has no task {}; it has {}", name_text(options.run), name_text(options.task),
                                   known.empty() ? "none so far" : fmt::format("{}", fmt::join(known, ", ")))});
  }
  const bool text = options.prompt || options.answer || options.cuda || options.plan;
  if (text && ids.size() != 1)
    return fail({Code::kUsage, "this run has several tasks: say which, e.g. `kagent show RUN 3/9 --cuda`"});
  json tasks = json::array();
  std::string page = identity_line(run);
  for (const std::string& id : ids) {
    Result<run::Chain> chain = run.read_task(id);
    if (!chain) return fail(chain.error());
    const run::TaskState state = run::state_of(chain.value().events);
    if (text) {
      Result<run::SampleState> sample = chosen_sample(state, options);
      if (!sample) return fail(sample.error());
      Result<std::string> stored = stored_text(run, sample.value(), options);
      if (!stored) return fail(stored.error());
      print_stored(stored.value() + (stored.value().ends_with('\n') ? "" : "\n"));
      return 0;
    }
    if (options.sample != 0) {
      if (Result<run::SampleState> sample = chosen_sample(state, options); !sample) return fail(sample.error());
    }
    page += task_page(id, state, options.sample, command_of(run));
    tasks.push_back({{"task", id}, {"ended", state.ended}, {"events", chain.value().events}});
  }
  if (options.json_output) {
    fmt::print("{}\n", pretty({{"run", run.folder()}, {"manifest", run.manifest()}, {"tasks", tasks}}));
  } else {
    print_text(stdout, "{}", page);
  }
  return 0;
}

}  // namespace

void add_show(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      program.add_subcommand("show", "what happened in a run, in a page; or one stored text of a sample");
  add_run_argument(*command, options->run, RunUse::kRead);
  command->add_option("task", options->task, "only this task")->type_name("TASK");
  command->add_option("--sample", options->sample, "which sample (default: the last)")
      ->type_name("N")
      ->check(whole_between(1, 1000));
  CLI::Option* prompt = command->add_flag("--prompt", options->prompt, "print the prompt that was sent");
  CLI::Option* answer = command->add_flag("--answer", options->answer, "print the raw reply");
  CLI::Option* cuda = command->add_flag("--cuda", options->cuda, "print the CUDA block");
  CLI::Option* plan = command->add_flag("--plan", options->plan, "print the launch plan as a list");
  prompt->excludes(answer)->excludes(cuda)->excludes(plan);
  answer->excludes(cuda)->excludes(plan);
  cuda->excludes(plan);
  command->add_flag("--json", options->json_output, "the whole log as one JSON object");
  command->footer("Examples:\n  kagent show runs/first\n  kagent show runs/first 3/9 --sample 2 --cuda");
  command->callback([options, &exit_code] { exit_code = show(*options); });
}

}  // namespace kagent
