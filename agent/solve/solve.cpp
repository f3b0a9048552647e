#include "agent/solve/solve.h"

#include <fmt/format.h>

#include <chrono>

#include "agent/answer/answer.h"
#include "agent/base/json_text.h"
#include "agent/llm/log_json.h"

namespace kagent {
namespace {

using nlohmann::json;

// Attempts go into the log before the next one begins; progress goes to the terminal.
class LoggedProgress : public llm::Progress {
 public:
  LoggedProgress(run::TaskLog& log, int sample, bool stands, const SolveHooks& hooks)
      : log_(log), sample_(sample), stands_(stands), hooks_(hooks) {}
  void say(std::string_view line) override { hooks_.say(line); }
  // A request that a server has is paid, so its reply is waited for; a prompt in a folder stands, and between two
  // attempts nobody has anything.
  bool cancelled() override {
    if (!hooks_.stopped || !hooks_.stopped()) return false;
    if (stands_ || Clock::now() < next_attempt_) return true;
    if (!told_) hooks_.say(fmt::format("sample {}: stops when the model has replied, which is paid for", sample_));
    told_ = true;
    return false;
  }
  void attempt(const llm::Attempt& done) override {
    next_attempt_ =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(done.wait_s));
    if (done.problem.empty()) return;
    json body = llm::to_json(done);
    body["sample"] = sample_;
    if (Status logged = log_.append("attempt", body); !logged) failed_ = logged;
  }
  [[nodiscard]] const Status& failed() const { return failed_; }

 private:
  using Clock = std::chrono::steady_clock;
  run::TaskLog& log_;
  int sample_;
  bool stands_;  // Provider::requests_stand
  bool told_ = false;
  Clock::time_point next_attempt_{};
  const SolveHooks& hooks_;
  Status failed_ = Ok{};
};

run::SampleState state_of(const run::TaskLog& log, int sample) {
  const run::TaskState state = log.state();
  const auto index = static_cast<std::size_t>(sample - 1);
  return index < state.samples.size() ? state.samples[index] : run::SampleState{sample, "", 0, {}, {}, {}};
}

// kAhead: the prompt goes out, and an answer that is there is taken; kNow: the answer is waited for.
enum class Ask { kAhead, kNow };

// One reply in the log, or why there is none. nullopt: answered.
Result<std::optional<SolveEnd>> ask(const SolveContext& context, llm::Provider& provider, int sample,
                                    const SolveHooks& hooks, Ask how = Ask::kNow) {
  Result<std::string> prompt = prompt_of(context, sample);
  if (!prompt) return prompt.error();
  Result<std::string> prompt_sha256 = context.log.blobs().put(prompt.value());
  if (!prompt_sha256) return prompt_sha256.error();
  llm::Request request = context.settings.request;
  request.prompt = prompt.value();
  request.task = context.task.id;
  request.sample = sample;
  request.wait = how == Ask::kNow;
  const bool stands = provider.requests_stand() && state_of(context.log, sample).prompt_sha256 == prompt_sha256.value();
  if (!stands) {
    Result<MayAsk> may = hooks.may_ask ? hooks.may_ask(request) : Result<MayAsk>(MayAsk{});
    if (!may && may.error().code != Code::kCancelled) return may.error();
    if (!may) {
      hooks.say(fmt::format("sample {}: {}", sample, may.error().message));
      return std::optional<SolveEnd>(SolveEnd::kStopped);
    }
    json logged = {{"sample", sample}, {"prompt_sha256", prompt_sha256.value()}, {"provider", provider.name()}};
    if (may.value().most_usd && !provider.requests_stand()) logged["most_usd"] = *may.value().most_usd;
    if (Status status = context.log.append("request", logged); !status) return status.error();
  }

  if (how == Ask::kNow) hooks.say(fmt::format("sample {}: asking {}", sample, provider.name()));
  LoggedProgress progress(context.log, sample, provider.requests_stand(), hooks);
  Result<llm::Answer> answer = provider.complete(request, progress);
  if (!progress.failed()) return progress.failed().error();
  if (!answer && answer.error().code == Code::kCancelled && progress.cancelled())
    return std::optional<SolveEnd>(SolveEnd::kStopped);
  if (!answer) return answer.error();
  if (const auto* pending = std::get_if<llm::Pending>(&answer.value())) {
    if (how == Ask::kAhead) return std::optional<SolveEnd>(SolveEnd::kWaiting);
    hooks.say(fmt::format("sample {}: waiting: have {} answered in {}, then run the same command again", sample,
                          pending->prompt_path, pending->waiting_for));
    return std::optional<SolveEnd>(SolveEnd::kWaiting);
  }
  if (const auto* none = std::get_if<llm::NoMore>(&answer.value())) {
    hooks.say(fmt::format("sample {}: {}", sample, none->why));
    return std::optional<SolveEnd>(SolveEnd::kNotSolved);
  }
  const auto& reply = std::get<llm::Reply>(answer.value());
  Result<std::string> answer_sha256 = context.log.blobs().put(reply.text);
  if (!answer_sha256) return answer_sha256.error();
  json body = llm::to_json(reply);
  body["sample"] = sample;
  body["answer_sha256"] = answer_sha256.value();
  body["cost"] = hooks.price(reply);
  if (Status status = context.log.append("reply", body); !status) return status.error();
  if (hooks.logged) hooks.logged();
  return std::optional<SolveEnd>();
}

// Puts out the prompts of all samples before the first answer is waited for; kStopped, or nothing.
Result<std::optional<SolveEnd>> ask_ahead(const SolveContext& context, llm::Provider& provider,
                                          const SolveHooks& hooks) {
  for (int sample = 1; sample <= context.settings.max_samples; ++sample) {
    if (hooks.stopped && hooks.stopped()) return std::optional<SolveEnd>(SolveEnd::kStopped);
    if (state_of(context.log, sample).reply) continue;
    Result<std::optional<SolveEnd>> asked = ask(context, provider, sample, hooks, Ask::kAhead);
    if (!asked || asked.value() == SolveEnd::kStopped) return asked;
  }
  return std::optional<SolveEnd>();
}

Verdict unanswered(const SolveContext& context, const answer::NoAnswer& none) {
  Verdict verdict;
  verdict.task = context.task.id;
  verdict.backend = "none";
  verdict.outcome = Outcome::kRejected;
  verdict.failure = Failure{"answer", none.kind, none.message, std::nullopt, "", ""};
  return verdict;
}

// Judges the logged reply of a sample and logs the verdict.
Result<json> judge_sample(const SolveContext& context, const run::SampleState& state, JudgeAnswer& judge,
                          const OpenJudge& open_judge) {
  Result<std::string> raw = context.log.blobs().get(state.reply->value("answer_sha256", ""));
  if (!raw) return raw.error();
  Verdict verdict;
  Artifacts artifacts;
  const answer::Found found = answer::find(raw.value());
  if (const auto* none = std::get_if<answer::NoAnswer>(&found)) {
    verdict = unanswered(context, *none);
  } else {
    if (!judge) {
      auto opened = open_judge();
      if (!opened) return opened.error();
      judge = std::move(opened).value();
    }
    Seeds seeds = draw_seeds();
    if (state.judge) {  // a kill between judging and verdict must not give a second draw
      Result<Seeds> logged = seeds_from_json(state.judge->value("seeds", json()));
      if (!logged) return logged.error();
      seeds = logged.value();
    } else if (Status status = context.log.append("judge", {{"sample", state.number}, {"seeds", to_json(seeds)}});
               !status) {
      return status.error();
    }
    const auto& blocks = std::get<answer::Answer>(found);
    verdict = judge({blocks.cuda, blocks.python}, seeds, artifacts);
  }
  json hashes = json::object();
  for (const auto& [name, bytes] : artifacts) {
    Result<std::string> hash = context.log.blobs().put(bytes);
    if (!hash) return hash.error();
    hashes[name] = hash.value();
  }
  json verdict_json = to_json(verdict);
  if (verdict.failure && verdict.failure->kind == kStopAsked) return Error{Code::kCancelled, verdict.failure->reason};
  if (verdict.outcome == Outcome::kError) {
    // Nothing was learned about the answer: the sample stays unjudged, and the same command judges it again.
    const json note = {{"sample", state.number}, {"problem", verdict.failure ? verdict.failure->reason : "unknown"}};
    if (Status status = context.log.append("resume", note); !status) return status.error();
    return Error{Code::kInternal,
                 fmt::format("sample {} could not be judged: {}", state.number, note["problem"].get<std::string>())};
  }
  const json body = {{"sample", state.number}, {"verdict", verdict_json}, {"artifacts", hashes}};
  if (Status status = context.log.append("verdict", body); !status) return status.error();
  return verdict_json;
}

SolveEnd end_of(const run::TaskState& state) {
  bool decided = false;
  bool emulated = false;  // right by emulation: not known to be fast
  for (const run::SampleState& sample : state.samples) {
    if (!sample.verdict) continue;
    const json verdict = sample.verdict->value("verdict", json::object());
    if (flag_or(verdict, "counts", false)) return SolveEnd::kSolved;
    emulated =
        emulated || (text_or(verdict, "outcome", "") == "accepted" && text_or(verdict, "backend", "") == "emulate");
    decided = decided || text_or(verdict, "outcome", "") != "undecided";
  }
  return decided && !emulated ? SolveEnd::kNotSolved : SolveEnd::kUndecided;
}

Status start(const SolveContext& context) {
  if (context.log.state().started) return Ok{};
  Result<std::string> source = context.log.blobs().put(context.task.source);
  if (!source) return source.error();
  const json body = {
      {"task", context.task.id}, {"task_sha256", source.value()}, {"prompt_set", context.prompts.sha256}};
  return context.log.append("start", body);
}

}  // namespace

const char* to_string(SolveEnd end) {
  switch (end) {
    case SolveEnd::kSolved:
      return "solved";
    case SolveEnd::kNotSolved:
      return "not_solved";
    case SolveEnd::kUndecided:
      return "undecided";
    case SolveEnd::kWaiting:
      return "waiting";
    case SolveEnd::kStopped:
      return "stopped";
  }
  return "unknown";
}

Result<SolveEnd> solve(const SolveContext& context, llm::Provider* provider, const SolveHooks& hooks) {
  run::TaskLog& log = context.log;
  if (log.state().ended) return end_of(log.state());
  if (Status started = start(context); !started) return started.error();
  const SolveSettings& settings = context.settings;
  const auto stopped = [&] { return hooks.stopped && hooks.stopped(); };
  // Whether a sample has to wait for the verdicts of those before it: its prompt tells them, or they may end the task.
  const bool in_turn = settings.protocol == Protocol::kFeedback || settings.stop_when_faster;
  JudgeAnswer judge;
  std::string reason = "all samples used";
  bool waiting = false;
  if (!in_turn && settings.part != Part::kJudge && provider->requests_stand()) {
    Result<std::optional<SolveEnd>> asked = ask_ahead(context, *provider, hooks);
    if (!asked) return asked.error();
    if (asked.value()) return *asked.value();
  }
  for (int sample = 1; sample <= settings.max_samples && !(waiting && in_turn); ++sample) {
    if (stopped()) return SolveEnd::kStopped;
    if (!state_of(log, sample).reply) {
      waiting = waiting || settings.part == Part::kJudge;
      if (settings.part == Part::kJudge) continue;
      Result<std::optional<SolveEnd>> asked = ask(context, *provider, sample, hooks);
      if (!asked) return asked.error();
      if (asked.value() == SolveEnd::kNotSolved) {
        reason = "the provider has no more answers";
        break;
      }
      if (asked.value() == SolveEnd::kStopped) return SolveEnd::kStopped;
      waiting = waiting || asked.value() == SolveEnd::kWaiting;
      if (asked.value()) continue;
    }
    if (!state_of(log, sample).verdict) {
      waiting = waiting || settings.part == Part::kGenerate;
      if (settings.part == Part::kGenerate) continue;
      if (stopped()) return SolveEnd::kStopped;
      Result<json> verdict = judge_sample(context, state_of(log, sample), judge, hooks.open_judge);
      if (!verdict && verdict.error().code == Code::kCancelled) return SolveEnd::kStopped;
      if (!verdict) return verdict.error();
      if (hooks.logged) hooks.logged();
    }
    if (settings.stop_when_faster && end_of(log.state()) == SolveEnd::kSolved) {
      reason = "a sample counts: accepted and faster";
      break;
    }
  }
  if (waiting) return SolveEnd::kWaiting;
  const SolveEnd end = end_of(log.state());
  const json body = {{"reason", reason}, {"solved", end == SolveEnd::kSolved}};
  if (Status status = log.append("end", body); !status) return status.error();
  return end;
}

}  // namespace kagent
