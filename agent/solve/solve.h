// The sample loop of one task: prompt, answer, judge, feedback, stop. Everything is in the log before the next thing
// happens, so that a killed run resumes where it was and no paid reply is lost.
//
// A sample counts once a complete reply is stored. Per sample the log gets: request (before the call), attempt (each
// failed or retried HTTP request), reply, judge (seeds, before judging), verdict.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/base/result.h"
#include "agent/judge/judge.h"
#include "agent/llm/provider.h"
#include "agent/prompt/render.h"
#include "agent/run/task_log.h"
#include "agent/task/task.h"

namespace kagent {

enum class Protocol {
  kFeedback,     // each sample sees the results of the earlier ones
  kIndependent,  // every sample sees the same prompt
};

// Which half of the loop this process does; the log carries what it hands to the other.
enum class Part { kAll, kGenerate, kJudge };

struct SolveSettings {
  int max_samples = 5;
  Protocol protocol = Protocol::kFeedback;
  Part part = Part::kAll;
  bool stop_when_faster = false;  // default: use every sample; the best one counts
  llm::Request request;           // temperature, limits, effort, extra; prompt, task and sample are filled in
};

enum class SolveEnd {
  kSolved,     // a sample counts: accepted and faster, in the default precision tier
  kNotSolved,  // all samples used
  kUndecided,  // nothing could be judged here (no GPU)
  kWaiting,    // for an answer, or for the other half; the same command goes on later
  kStopped,    // asked to stop, or the budget is used up; the same command goes on later
};

// "solved", "not_solved", "undecided", "waiting", "stopped".
const char* to_string(SolveEnd end);

struct SolveContext {
  const Task& task;
  const PromptSet& prompts;
  nlohmann::json device;  // facts shown in the prompt
  run::TaskLog& log;
  SolveSettings settings;
};

// Judges one answer (Judge::judge). Opened when the first answer needs it: a run that waits for a model holds no GPU.
using JudgeAnswer = std::function<Verdict(const Program&, const Seeds&, Artifacts&)>;
using OpenJudge = std::function<Result<JudgeAnswer>()>;
using Say = std::function<void(std::string_view)>;
// What a reply cost in USD, if known; kept in the log.
using Price = std::function<nlohmann::json(const llm::Reply&)>;

// Leave to make one request.
struct MayAsk {
  std::optional<double> most_usd;  // the most that it can cost, if known; logged with it
  std::shared_ptr<void> held;      // kept until the request is in the log: nobody else decides meanwhile
};

struct SolveHooks {
  OpenJudge open_judge;
  Price price;
  Say say;
  // Looked at before each request, attempt and judging, and while an answer file is awaited; a request that a server
  // has is waited for, since it is paid. Empty: never.
  std::function<bool()> stopped{};
  // Whether there is money for a request; kCancelled: stop. Empty: always.
  std::function<Result<MayAsk>(const llm::Request&)> may_ask{};
  // A reply or a verdict is in the log. Empty: nobody cares.
  std::function<void()> logged{};
};

// `provider` may be null where `part` is kJudge. Errors are kagent's, the provider's or the machine's; the log is valid
// after any of them.
Result<SolveEnd> solve(const SolveContext& context, llm::Provider* provider, const SolveHooks& hooks);

// The prompt of a sample, as `solve` sends it.
Result<std::string> prompt_of(const SolveContext& context, int sample);
// That of a task's first sample, which needs no log: for --dry-run.
Result<std::string> first_prompt(const Task& task, const PromptSet& prompts, const nlohmann::json& device,
                                 const SolveSettings& settings);

// The samples that an answered and judged log holds, as feedback needs them. Errors: a blob is missing.
Result<std::vector<EarlierSample>> earlier_samples(const run::TaskLog& log);

}  // namespace kagent
