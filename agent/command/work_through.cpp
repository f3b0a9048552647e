#include "agent/command/work_through.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "agent/base/json_text.h"
#include "agent/command/commands.h"
#include "agent/command/interrupt.h"
#include "agent/command/print.h"
#include "agent/command/run_progress.h"
#include "agent/judge/gpu_lock.h"
#include "agent/suite/answer_judge.h"

namespace kagent {
namespace {

using nlohmann::json;

suite::Lock gpu_lock(bool gpu) {
  if (!gpu) return nullptr;
  return [](const std::string& name, double wait_s) -> Result<std::shared_ptr<void>> {
    Result<std::unique_ptr<GpuLock>> lock = GpuLock::take(name, wait_s);
    if (!lock) return lock.error();
    return std::shared_ptr<void>(std::move(lock).value());
  };
}

// Half of the cores: each builder runs two compilers, and what is timed must not wait for a core.
int builders_here(int in_flight) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(cores / 2, 1, std::max(1, in_flight));
}

int exit_code_of(const std::vector<suite::TaskEnd>& ends) {
  const auto any = [&](auto is) { return std::any_of(ends.begin(), ends.end(), is); };
  if (any([](const suite::TaskEnd& e) { return !e.error.empty(); })) return kExitError;
  if (any([](const suite::TaskEnd& e) { return e.end == SolveEnd::kStopped; })) return kExitStopped;
  if (any([](const suite::TaskEnd& e) { return e.end == SolveEnd::kWaiting; })) return kExitWaiting;
  return 0;
}

json use_json(const suite::Slots::Use& use) {
  json out = {{"judged", use.taken}, {"occupied_s", use.occupied_s}};
  if (use.queued_s > 0) out["occupied_while_queued"] = use.occupied_queued_s / use.queued_s;
  if (use.occupied_s > 0 && use.taken > 0) out["samples_per_gpu_hour"] = use.taken / use.occupied_s * 3600;
  return out;
}

json summary_of(const SuiteJob& job, const std::vector<suite::TaskEnd>& ends, const suite::Tally& tally,
                const suite::Budget& budget, const suite::Slots::Use& use) {
  json tasks = json::array();
  for (const suite::TaskEnd& end : ends) {
    tasks.push_back({{"task", end.task},
                     {"end", end.end ? json(to_string(*end.end)) : json("error")},
                     {"error", end.error.empty() ? json() : json(end.error)}});
  }
  json out = tally.json();
  out["run"] = job.run.folder();
  out["spent_usd"] = job.planned.price ? json(budget.spent_usd()) : json("unknown");
  out["slots"] = use_json(use);
  out["ends"] = tasks;
  return out;
}

// The tasks whose errors the progress told as they came, e.g. "2 tasks could not go on (3/2, 3/7)".
std::string failed_words(const std::vector<suite::TaskEnd>& ends) {
  std::vector<std::string> failed;
  for (const suite::TaskEnd& end : ends) {
    if (!end.error.empty()) failed.push_back(name_text(end.task));
  }
  return fmt::format("{} {} could not go on, for the reasons above ({})", failed.size(),
                     failed.size() == 1 ? "task" : "tasks", fmt::join(failed, ", "));
}

void print_summary(const SuiteJob& job, const std::vector<suite::TaskEnd>& ends, const suite::Tally& tally,
                   const json& summary, int exit_code) {
  print_text(stdout, "{}: {}\n", name_text(job.run.folder()), tally.line());
  const json& slots = summary["slots"];
  if (job.judging != nullptr && job.judging->settings.crew.backend == "cuda" &&
      slots.contains("samples_per_gpu_hour")) {
    print_text(stdout, "{} judged now, {:.0f} an hour of GPU time{}\n", slots["judged"].dump(),
               slots["samples_per_gpu_hour"].get<double>(),
               slots.contains("occupied_while_queued") ? fmt::format("; GPUs {:.0f}% occupied while answers waited",
                                                                     100 * slots["occupied_while_queued"].get<double>())
                                                       : std::string());
  }
  const std::string what =
      exit_code == kExitError       ? failed_words(ends) + "; the same command resumes"
      : exit_code == kExitStopped   ? "stopped; the same command goes on"
      : exit_code != kExitWaiting   ? "every task has ended"
      : job.part == Part::kGenerate ? "waiting for verdicts (`kagent judge-run`) or answers; the same command goes on"
      : job.part == Part::kJudge    ? "everything that is answered is judged; `kagent generate` goes on"
                                    : "waiting for answers; the same command goes on";
  print_text(stdout, "{}; `kagent score {}` sums it up\n", what, name_text(job.run.folder()));
}

}  // namespace

int work_through(SuiteJob job) {
  suite::Tally tally(static_cast<int>(job.planned.tasks.size()), job.planned.solve.max_samples);
  suite::Budget budget(job.budget_usd, job.planned.price);
  suite::SuiteContext context{job.run,
                              job.planned.tasks,
                              job.planned.prompts,
                              object_in(job.run.manifest()["facts"], "device"),
                              {job.planned.solve, job.in_flight},
                              job.planned.price,
                              budget,
                              tally};
  context.settings.solve.part = job.part;
  if (Status restored = suite::restore(context); !restored) return fail(restored.error());

  const StopOnInterrupt interrupt;
  const bool gpu = job.judging != nullptr && job.judging->settings.crew.backend == "cuda";
  // Without a GPU one slot, the CPU: an emulated kernel uses all cores.
  suite::Slots slots(gpu ? job.judging->gpus : std::vector<std::string>{""}, gpu_lock(gpu),
                     [] { return StopOnInterrupt::asked(); });
  std::unique_ptr<suite::AnswerJudge> judge;
  if (job.judging != nullptr) {
    judge = std::make_unique<suite::AnswerJudge>(job.planned.installation, job.judging->settings, slots,
                                                 builders_here(job.in_flight));
  }
  RunProgress progress([&] {
    const std::string spend = job.planned.price ? ", " + llm::cost_text(budget.spent_usd()) : "";
    return tally.line() + spend;
  });
  const suite::SuiteHooks hooks{[&](const Task& task, const Program& program, const Seeds& seeds, Artifacts& artifacts,
                                    const Say& say) { return judge->judge(task, program, seeds, artifacts, say); },
                                price_by(job.planned.price), [] { return StopOnInterrupt::asked(); },
                                [&](const std::string& task, std::string_view what) { progress.say(task, what); },
                                [&] { progress.moved(); }};
  const std::vector<suite::TaskEnd> ends = suite::run_suite(context, job.providers, hooks);

  const int exit_code = exit_code_of(ends);
  const json summary = summary_of(job, ends, tally, budget, slots.use());
  if (job.print == SuiteJob::Print::kNothing) return exit_code;
  if (job.json) {
    fmt::print("{}\n", pretty(summary));
  } else {
    print_summary(job, ends, tally, summary, exit_code);
  }
  return exit_code;
}

}  // namespace kagent
