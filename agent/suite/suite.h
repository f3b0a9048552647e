// Many tasks of one run at once: a thread a task in flight. Requests to the model overlap freely; `builders` answers
// are traced and compiled at a time; the GPUs' slots are the judge's business.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/run/run_directory.h"
#include "agent/solve/solve.h"
#include "agent/suite/budget.h"
#include "agent/suite/tally.h"

namespace kagent::suite {

struct SuiteSettings {
  SolveSettings solve;
  int in_flight = 8;  // tasks at a time
};

struct SuiteHooks {
  // Judges one answer to this task; called by many threads.
  std::function<Verdict(const Task&, const Program&, const Seeds&, Artifacts&, const Say&)> judge;
  Price price;
  std::function<bool()> stopped;
  // For people: what happens to a task.
  std::function<void(const std::string& task, std::string_view what)> say;
  // Something that the tally shows has changed.
  std::function<void()> moved;
};

// How a task left this process. `error`: why it could not go on; its log is valid and the same command resumes it.
struct TaskEnd {
  std::string task;
  std::optional<SolveEnd> end;
  std::string error;
};

struct SuiteContext {
  const run::RunDirectory& run;
  const std::vector<Task>& tasks;
  const PromptSet& prompts;
  nlohmann::json device;  // facts shown in prompts
  SuiteSettings settings;
  std::optional<llm::Price> price;
  Budget& budget;
  Tally& tally;
};

// Brings tally and budget up to what the logs hold. Errors: a log is damaged.
Status restore(const SuiteContext& context);

// `providers`: one a thread (a provider is used by one thread at a time), `in_flight` of them; empty where nothing is
// asked. One entry a task, in order.
std::vector<TaskEnd> run_suite(const SuiteContext& context, std::vector<std::unique_ptr<llm::Provider>>& providers,
                               const SuiteHooks& hooks);

}  // namespace kagent::suite
