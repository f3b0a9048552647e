// kagent judge: one answer file -> one verdict.

#include <fmt/format.h>

#include <memory>

#include "agent/answer/answer.h"
#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/base/printable.h"
#include "agent/command/commands.h"
#include "agent/command/judge_log.h"
#include "agent/command/options.h"
#include "agent/command/print.h"
#include "agent/command/progress.h"
#include "agent/command/run_names.h"
#include "agent/command/verdict_text.h"
#include "agent/judge/compile_ahead.h"
#include "agent/judge/judge.h"

namespace kagent {
namespace {

struct Options {
  TaskOptions task;
  JudgeOptions judge;
  std::string answer;
  std::string run;
  bool json = false;
};

int judge_answer(const Options& options) {
  Result<Installation> installation = find_installation();
  if (!installation) return fail(installation.error());
  Result<Task> task = find_task(task_source(options.task, installation.value()), options.task.task);
  if (!task) return fail(task.error());
  Result<std::string> raw = read_file(options.answer, std::size_t{8} << 20);
  if (!raw) return fail(raw.error());
  Result<JudgeSettings> settings = judge_settings(options.judge, options.task, task.value().path);
  if (!settings) return fail(settings.error());

  ProgressLine progress(ProgressLine::Show::kYes);
  progress.set_subject(task.value().id);
  JudgeLog log;
  if (!options.run.empty()) {
    if (Status opened = log.open(run_folder(options.run), task.value(), raw.value()); !opened)
      return fail(opened.error());
  }

  Verdict verdict;
  Artifacts artifacts;
  const answer::Found found = answer::find(raw.value());
  if (const auto* none = std::get_if<answer::NoAnswer>(&found)) {
    verdict.task = task.value().id;
    verdict.backend = settings.value().crew.backend;
    verdict.outcome = Outcome::kRejected;
    verdict.failure = Failure{"answer", none->kind, none->message, std::nullopt, "", ""};
  } else {
    const auto& blocks = std::get<answer::Answer>(found);
    const Program program{blocks.cuda, blocks.python};
    const Seeds seeds = draw_seeds();
    if (Status logged = log.before(seeds); !logged) return fail(logged.error());
    progress.say("compile");
    if (auto refused =
            refused_by_compiler(installation.value(), settings.value(), task.value().id, program, artifacts)) {
      verdict = std::move(*refused);
    } else {
      auto judge = Judge::open(installation.value(), settings.value(), task.value().id,
                               [&](std::string_view phase) { progress.say(phase); });
      if (!judge) return fail(judge.error());
      verdict = judge.value()->judge(program, seeds, artifacts);
    }
  }
  const nlohmann::json json = to_json(verdict);
  if (Status logged = log.after(json, artifacts); !logged) return fail(logged.error());
  if (options.json) {
    fmt::print("{}\n", pretty(json));
  } else {
    print_text(stdout, "{}", verdict_text(json));
  }
  return verdict.exit_code();
}

}  // namespace

void add_judge(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand(
      "judge", "judge one answer file: correct? faster? (exit 0 accepted, 1 rejected, 2 error, 3 undecided)");
  add_task_options(*command, options->task);
  add_judge_options(*command, options->judge);
  command->add_option("--answer", options->answer, "the model's reply, or any file with a cuda and a python block")
      ->required()
      ->type_name("FILE")
      ->check(not_blank());
  command->add_option("--run", options->run, "also keep answer and verdict in this run: its name (runs/NAME) or folder")
      ->type_name("RUN")
      ->check(not_blank());
  command->add_flag("--json", options->json, "print the verdict as one JSON object (docs/verdict.md)");
  command->footer(
      "Examples:\n  kagent judge --task 3/9 --answer reply.md\n  kagent judge --file my_model.py --answer mine.md "
      "--json");
  command->callback([options, &exit_code] { exit_code = judge_answer(*options); });
}

}  // namespace kagent
