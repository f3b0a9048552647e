// kagent replay: a run's verdicts, judged again without a model.

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/command/commands.h"
#include "agent/command/options.h"
#include "agent/command/print.h"
#include "agent/command/progress.h"
#include "agent/command/run_names.h"
#include "agent/replay/report.h"

namespace kagent {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string run;
  std::string task;
  std::string out;
  int sample = 0;
  bool json = false;
  JudgeOptions judge;
};

bool is_inside(const std::string& path, const std::string& folder) {
  std::error_code failed;
  const fs::path relative = fs::weakly_canonical(path, failed).lexically_relative(fs::weakly_canonical(folder, failed));
  return !relative.empty() && *relative.begin() != "..";
}

Status write_out(const Options& options, const run::RunDirectory& run, const replay::Replay& done, bool finished) {
  if (options.out.empty()) return Ok{};
  nlohmann::json out = to_json(done, run, replay::Verdicts::kWhole);
  out["finished"] = finished;
  return write_file(options.out, pretty(out) + "\n");
}

int replay_run(const Options& options) {
  auto run = open_run_folder(options.run);
  if (!run) return fail(run.error());
  if (!options.out.empty() && is_inside(options.out, options.run))
    return fail({Code::kUsage, fmt::format("--out {} is inside {}, which is only read; name another place", options.out,
                                           options.run)});
  Result<Installation> installation = find_installation();
  if (!installation) return fail(installation.error());
  TaskOptions task;
  task.small = flag_or(run.value().manifest()["identity"], "small", false);
  JudgeOptions judge_as = options.judge;
  if (task.small && judge_as.backend == "auto") judge_as.backend = "emulate";  // small forms are for that
  Result<JudgeSettings> asked = judge_settings(judge_as, task, "");
  if (!asked) return fail(asked.error());

  ProgressLine progress(ProgressLine::Show::kYes);
  const Say say = [&](std::string_view what) { progress.say(what); };
  std::shared_ptr<Judge> judge;
  const replay::OpenReplayJudge open_judge = [&](const std::string& task_id, const std::string& task_file,
                                                 bool all_rules) -> Result<JudgeAnswer> {
    JudgeSettings settings = asked.value();
    settings.crew.task_file = task_file;
    settings.all_rules = settings.all_rules || all_rules;
    settings.more_answers = true;
    judge = nullptr;  // gives the GPU back before the next one takes it
    auto opened = Judge::open(installation.value(), settings, task_id, say);
    if (!opened) return opened.error();
    judge = std::move(opened).value();
    return JudgeAnswer([&judge](const Program& program, const Seeds& seeds, Artifacts& artifacts) {
      return judge->judge(program, seeds, artifacts);
    });
  };
  const auto keep = [&](const replay::Replay& so_far) { return write_out(options, run.value(), so_far, false); };
  Result<replay::Replay> done = replay::replay(
      run.value(),
      {installation.value().root + "/tasks", options.task, options.sample, installation.value().cache + "/small"},
      open_judge, keep, say);
  if (!done) return fail(done.error());
  if (Status written = write_out(options, run.value(), done.value(), true); !written) return fail(written.error());
  if (options.json) {
    fmt::print("{}\n", pretty(to_json(done.value(), run.value(), replay::Verdicts::kShort)));
  } else {
    print_text(stdout, "{}", to_text(done.value(), run.value()));
  }
  return done.value().exit_code();
}

}  // namespace

void add_replay(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      program.add_subcommand("replay",
                             "judge a run's answers again, without a model (exit 0 the same, 1 something "
                             "differs, 2 error, 3 nothing could be compared)");
  add_run_argument(*command, options->run, RunUse::kRead);
  command->add_option("--task", options->task, "this task only, e.g. 3/4")->type_name("TASK");
  command->add_option("--sample", options->sample, "this sample only")->check(whole_between(1, 1000));
  add_judge_options(*command, options->judge);
  command->add_flag("--json", options->json, "print the result as one JSON object");
  command->add_option("--out", options->out, "write the result here, with both verdicts whole, as it grows")
      ->type_name("FILE")
      ->check(not_blank());
  command->footer(
      "Examples:\n  kagent replay runs/3-4-claude\n  kagent replay runs/first --task 3/9 --sample 2\n"
      "  kagent replay runs/first --out replay.json");
  command->callback([options, &exit_code] { exit_code = replay_run(*options); });
}

}  // namespace kagent
