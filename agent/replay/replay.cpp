#include "agent/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/answer/answer.h"
#include "agent/base/json_text.h"
#include "agent/base/printable.h"
#include "agent/replay/logged.h"
#include "agent/run/task_state.h"

namespace kagent::replay {
namespace {

using nlohmann::json;

// A GPU runs every rule anyway. Emulation runs those beyond the official check only if the logged verdict rests on
// them.
bool rests_on_all_rules(const json& verdict) {
  const std::string stage = text_or(verdict, "stage", "");
  if (stage == "hidden" || stage == "rules") return true;
  if (text_or(verdict, "backend", "") == "cuda") return false;
  const json rules = array_in(verdict, "rules");
  return std::any_of(rules.begin(), rules.end(), [](const json& rule) {
    return text_or(rule, "rule", "") == "redrawn_weights" && text_or(rule, "outcome", "") != "not_run";
  });
}

json logged_verdict(const run::SampleState& state) { return object_in(*state.verdict, "verdict"); }

// One task: its file, and a judge from the first sample that needs one.
class TaskReplay {
 public:
  TaskReplay(const run::RunDirectory& run, std::string task_id, TaskFile file, bool all_rules,
             const OpenReplayJudge& open_judge)
      : run_(run),
        task_id_(std::move(task_id)),
        file_(std::move(file)),
        all_rules_(all_rules),
        open_judge_(open_judge) {}

  // Errors: the judge's, when it cannot be opened.
  Result<ReplayedSample> judge_again(const run::SampleState& state) {
    ReplayedSample sample{task_id_, state.number, file_.from_log(), logged_verdict(state), json(), {}};
    Result<std::string> raw = run_.blobs().get(text_or(*state.reply, "answer_sha256", ""));
    if (!raw) return unjudged(std::move(sample), raw.error());
    const answer::Found found = answer::find(raw.value());
    if (const auto* none = std::get_if<answer::NoAnswer>(&found)) {
      sample.replayed = {{"backend", "none"},
                         {"outcome", "rejected"},
                         {"stage", "answer"},
                         {"kind", none->kind},
                         {"reason", none->message}};
      sample.comparison = compare(sample.logged, sample.replayed);
      return sample;
    }
    // A verdict that ended before judging (no blocks then, blocks now) has no seeds: any will do.
    Result<LoggedSeeds> seeds =
        state.judge ? seeds_of(object_in(*state.judge, "seeds")) : Result<LoggedSeeds>(LoggedSeeds{draw_seeds(), 0});
    if (!seeds) return unjudged(std::move(sample), seeds.error());
    if (!judge_) {
      auto opened = open_judge_(task_id_, file_.path(), all_rules_);
      if (!opened) return opened.error();
      judge_ = std::move(opened).value();
    }
    const auto& blocks = std::get<answer::Answer>(found);
    Artifacts left_behind;  // of no interest: the run is only read
    const Verdict verdict = judge_({blocks.cuda, blocks.python}, seeds.value().seeds, left_behind);
    if (verdict.outcome == Outcome::kError) judge_ = nullptr;  // the next sample gets fresh processes
    sample.replayed = to_json(verdict);
    sample.comparison = compare(sample.logged, sample.replayed);
    if (seeds.value().drawn_anew > 0) {
      sample.comparison.notes.push_back(fmt::format(
          "{} of the draws are not in the log, which an earlier version wrote: drawn anew", seeds.value().drawn_anew));
    }
    return sample;
  }

 private:
  static ReplayedSample unjudged(ReplayedSample sample, const Error& error) {
    sample.comparison = {Agreement::kError, {}, {"could not be judged again: " + error.message}};
    return sample;
  }

  const run::RunDirectory& run_;
  std::string task_id_;
  TaskFile file_;
  bool all_rules_;
  const OpenReplayJudge& open_judge_;
  JudgeAnswer judge_;
};

Status replay_task(const run::RunDirectory& run, const std::string& task_id, const ReplaySettings& settings,
                   const OpenReplayJudge& open_judge, const OnSample& on_sample, const Say& say, Replay& out) {
  Result<run::Chain> chain = run.read_task(task_id);
  if (!chain) return chain.error();
  std::vector<run::SampleState> chosen;
  bool all_rules = false;
  for (run::SampleState& state : run::state_of(chain.value().events).samples) {
    if (!state.reply || (settings.sample != 0 && state.number != settings.sample)) continue;
    if (!state.verdict) {
      ++out.without_verdict;
      continue;
    }
    all_rules = all_rules || rests_on_all_rules(logged_verdict(state));
    chosen.push_back(std::move(state));
  }
  if (chosen.empty()) return Ok{};
  Result<TaskFile> file =
      TaskFile::of(run, task_id, chain.value().events, settings.builtin_tasks, settings.small_folder);
  if (!file) return file.error().within(task_id);
  TaskReplay task(run, task_id, std::move(file).value(), all_rules, open_judge);
  for (const run::SampleState& state : chosen) {
    say(fmt::format("{} sample {}", task_id, state.number));
    Result<ReplayedSample> sample = task.judge_again(state);
    if (!sample) return sample.error().within(fmt::format("{} sample {}", task_id, state.number));
    out.samples.push_back(std::move(sample).value());
    if (Status told = on_sample(out); !told) return told;
  }
  return Ok{};
}

}  // namespace

int Replay::count(Agreement agreement) const {
  return static_cast<int>(std::count_if(samples.begin(), samples.end(), [agreement](const ReplayedSample& sample) {
    return sample.comparison.agreement == agreement;
  }));
}

int Replay::exit_code() const {
  if (count(Agreement::kDiffers) > 0) return 1;
  if (count(Agreement::kError) > 0) return 2;
  return count(Agreement::kNotCompared) == static_cast<int>(samples.size()) ? 3 : 0;
}

Result<Replay> replay(const run::RunDirectory& run, const ReplaySettings& settings, const OpenReplayJudge& open_judge,
                      const OnSample& on_sample, const Say& say) {
  Replay out;
  std::vector<std::string> tasks = run.tasks();
  if (!settings.task.empty()) {
    if (std::find(tasks.begin(), tasks.end(), settings.task) == tasks.end())
      return Error{Code::kUsage,
                   fmt::format("{} has no log of a task {}", name_text(run.folder()), name_text(settings.task))};
    tasks = {settings.task};
  }
  for (const std::string& id : tasks) {
    if (Status done = replay_task(run, id, settings, open_judge, on_sample, say, out); !done) return done.error();
  }
  if (out.samples.empty()) {
    return Error{Code::kUsage,
                 fmt::format("{} has no verdict{} to judge again", run.folder(),
                             settings.sample != 0 ? fmt::format(" of a sample {}", settings.sample) : std::string())};
  }
  return out;
}

}  // namespace kagent::replay
