#include "agent/solve/solve.h"

#include <fmt/format.h>

#include "agent/answer/answer.h"
#include "agent/base/json_text.h"
#include "agent/llm/log_json.h"

namespace kagent {
namespace {

using nlohmann::json;

// Attempts go into the log before the next one begins; progress goes to the terminal.
class LoggedProgress : public llm::Progress {
 public:
  LoggedProgress(run::TaskLog& log, int sample, const Say& say) : log_(log), sample_(sample), say_(say) {}
  void say(std::string_view line) override { say_(line); }
  void attempt(const llm::Attempt& done) override {
    if (done.problem.empty()) return;
    json body = llm::to_json(done);
    body["sample"] = sample_;
    if (Status logged = log_.append("attempt", body); !logged) failed_ = logged;
  }
  [[nodiscard]] const Status& failed() const { return failed_; }

 private:
  run::TaskLog& log_;
  int sample_;
  const Say& say_;
  Status failed_ = Ok{};
};

// One reply in the log, or why there is none. nullopt: answered.
Result<std::optional<SolveEnd>> ask(const SolveContext& context, llm::Provider& provider, int sample,
                                    const Price& price, const Say& say) {
  Result<std::string> prompt = prompt_of(context, sample);
  if (!prompt) return prompt.error();
  Result<std::string> prompt_sha256 = context.log.blobs().put(prompt.value());
  if (!prompt_sha256) return prompt_sha256.error();
  llm::Request request = context.settings.request;
  request.prompt = prompt.value();
  request.task = context.task.id;
  request.sample = sample;
  json logged = {{"sample", sample}, {"prompt_sha256", prompt_sha256.value()}, {"provider", provider.name()}};
  if (Status status = context.log.append("request", logged); !status) return status.error();

  say(fmt::format("sample {}: asking {}", sample, provider.name()));
  LoggedProgress progress(context.log, sample, say);
  Result<llm::Answer> answer = provider.complete(request, progress);
  if (!progress.failed()) return progress.failed().error();
  if (!answer) return answer.error();
  if (const auto* pending = std::get_if<llm::Pending>(&answer.value())) {
    say(fmt::format("sample {}: waiting: have {} answered in {}, then run the same command again", sample,
                    pending->prompt_path, pending->waiting_for));
    return std::optional<SolveEnd>(SolveEnd::kWaiting);
  }
  if (const auto* none = std::get_if<llm::NoMore>(&answer.value())) {
    say(fmt::format("sample {}: {}", sample, none->why));
    return std::optional<SolveEnd>(SolveEnd::kNotSolved);
  }
  const auto& reply = std::get<llm::Reply>(answer.value());
  Result<std::string> answer_sha256 = context.log.blobs().put(reply.text);
  if (!answer_sha256) return answer_sha256.error();
  json body = llm::to_json(reply);
  body["sample"] = sample;
  body["answer_sha256"] = answer_sha256.value();
  body["cost"] = price(reply);
  if (Status status = context.log.append("reply", body); !status) return status.error();
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
    if (text_or(verdict, "outcome", "") == "accepted" && flag_or(verdict, "faster", false)) return SolveEnd::kSolved;
    emulated =
        emulated || (text_or(verdict, "outcome", "") == "accepted" && text_or(verdict, "backend", "") == "emulate");
    decided = decided || text_or(verdict, "outcome", "") != "undecided";
  }
  return decided && !emulated ? SolveEnd::kNotSolved : SolveEnd::kUndecided;
}

}  // namespace

Result<SolveEnd> solve(const SolveContext& context, llm::Provider& provider, const OpenJudge& open_judge,
                       const Price& price, const Say& say) {
  run::TaskLog& log = context.log;
  if (log.state().ended) return end_of(log.state());
  if (!log.state().started) {
    Result<std::string> source = log.blobs().put(context.task.source);
    if (!source) return source.error();
    const json body = {
        {"task", context.task.id}, {"task_sha256", source.value()}, {"prompt_set", context.prompts.sha256}};
    if (Status status = log.append("start", body); !status) return status.error();
  }
  JudgeAnswer judge;
  std::string reason = "all samples used";
  for (int sample = 1; sample <= context.settings.max_samples; ++sample) {
    const auto current = [&]() -> run::SampleState {
      const run::TaskState state = log.state();
      const auto index = static_cast<std::size_t>(sample - 1);
      return index < state.samples.size() ? state.samples[index] : run::SampleState{sample, "", 0, {}, {}, {}};
    };
    if (!current().reply) {
      Result<std::optional<SolveEnd>> asked = ask(context, provider, sample, price, say);
      if (!asked) return asked.error();
      if (asked.value() == SolveEnd::kWaiting) return SolveEnd::kWaiting;
      if (asked.value()) {
        reason = "the provider has no more answers";
        break;
      }
    }
    if (!current().verdict) {
      Result<json> verdict = judge_sample(context, current(), judge, open_judge);
      if (!verdict) return verdict.error();
    }
    if (context.settings.stop_when_faster && end_of(log.state()) == SolveEnd::kSolved) {
      reason = "accepted and faster";
      break;
    }
  }
  const SolveEnd end = end_of(log.state());
  const json body = {{"reason", reason}, {"solved", end == SolveEnd::kSolved}};
  if (Status status = log.append("end", body); !status) return status.error();
  return end;
}

}  // namespace kagent
