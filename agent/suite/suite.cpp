#include "agent/suite/suite.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace kagent::suite {
namespace {

// One task, from wherever its log stands.
TaskEnd run_task(const SuiteContext& context, const Task& task, llm::Provider* provider, const SuiteHooks& hooks) {
  TaskEnd end{task.id, std::nullopt, ""};
  auto opened = context.run.open_task(task.id);
  if (!opened) {
    end.error = opened.error().message;
    return end;
  }
  run::TaskLog& log = *opened.value();
  const auto account = [&] {
    context.tally.update(task.id, standing_of(log.state()));
    context.budget.settle(task.id, spend_of(log.events(), context.price));
    if (hooks.moved) hooks.moved();
  };
  const Say say = [&](std::string_view what) { hooks.say(task.id, what); };
  const OpenJudge open_judge = [&]() -> Result<JudgeAnswer> {
    return JudgeAnswer([&](const Program& program, const Seeds& seeds, Artifacts& artifacts) {
      return hooks.judge(task, program, seeds, artifacts, say);
    });
  };
  const SolveHooks solve_hooks{
      open_judge,
      hooks.price,
      say,
      hooks.stopped,
      [&](const llm::Request& request) { return context.budget.may_ask(request, context.run, hooks.stopped); },
      account};
  Result<SolveEnd> solved =
      solve({task, context.prompts, context.device, log, context.settings.solve}, provider, solve_hooks);
  if (solved) {
    end.end = solved.value();
  } else {
    end.error = solved.error().message;
  }
  account();
  return end;
}

}  // namespace

Status restore(const SuiteContext& context) {
  for (const std::string& id : context.run.tasks()) {
    const bool ours =
        std::any_of(context.tasks.begin(), context.tasks.end(), [&](const Task& t) { return t.id == id; });
    if (!ours) continue;  // another shard's
    Result<run::Chain> chain = context.run.read_task(id);
    if (!chain) return chain.error();
    context.tally.update(id, standing_of(run::state_of(chain.value().events)), true);
    context.budget.settle(id, spend_of(chain.value().events, context.price));
  }
  return Ok{};
}

std::vector<TaskEnd> run_suite(const SuiteContext& context, std::vector<std::unique_ptr<llm::Provider>>& providers,
                               const SuiteHooks& hooks) {
  std::vector<TaskEnd> ends(context.tasks.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&](llm::Provider* provider) {
    for (std::size_t i = next++; i < context.tasks.size(); i = next++) {
      const Task& task = context.tasks[i];
      if (hooks.stopped && hooks.stopped()) {
        ends[i] = {task.id, SolveEnd::kStopped, ""};
        continue;
      }
      ends[i] = run_task(context, task, provider, hooks);
      if (!ends[i].error.empty()) hooks.say(task.id, "cannot go on: " + ends[i].error);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < context.settings.in_flight; ++i) {
    const auto at = static_cast<std::size_t>(i);
    threads.emplace_back(work, at < providers.size() ? providers[at].get() : nullptr);
  }
  for (std::thread& thread : threads) thread.join();
  return ends;
}

}  // namespace kagent::suite
