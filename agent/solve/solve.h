// The sample loop of one task: prompt, answer, judge, feedback, stop. Everything is in the log before the next thing
// happens, so that a killed run resumes where it was and no paid reply is lost.
//
// A sample counts once a complete reply is stored. Per sample the log gets: request (before the call), attempt (each
// failed or retried HTTP request), reply, judge (seeds, before judging), verdict.
#pragma once

#include <functional>
#include <memory>
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

struct SolveSettings {
  int max_samples = 5;
  Protocol protocol = Protocol::kFeedback;
  bool stop_when_faster = false;  // default: use every sample; the best one counts
  llm::Request request;           // temperature, limits, effort, extra; prompt, task and sample are filled in
};

enum class SolveEnd {
  kSolved,     // a sample is accepted and faster
  kNotSolved,  // all samples used
  kUndecided,  // nothing could be judged here (no GPU)
  kWaiting,    // the provider has no answer yet; the same command goes on later
};

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

// Errors are kagent's, the provider's or the machine's; the log is valid after any of them.
Result<SolveEnd> solve(const SolveContext& context, llm::Provider& provider, const OpenJudge& open_judge,
                       const Price& price, const Say& say);

// The prompt of a sample, as `solve` would send it: for --dry-run too.
Result<std::string> prompt_of(const SolveContext& context, int sample);

// The samples that an answered and judged log holds, as feedback needs them. Errors: a blob is missing.
Result<std::vector<EarlierSample>> earlier_samples(const run::TaskLog& log);

}  // namespace kagent
