#include "agent/audit/ask.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/audit/judgement.h"
#include "agent/llm/log_json.h"

namespace kagent::audit {
namespace {

using nlohmann::json;

// Failed attempts go into the log before the next one begins.
class LoggedProgress : public llm::Progress {
 public:
  LoggedProgress(const AskContext& context, json about) : context_(context), about_(std::move(about)) {}
  void say(std::string_view line) override { context_.say(line); }
  void attempt(const llm::Attempt& done) override {
    if (done.problem.empty()) return;
    json body = llm::to_json(done);
    body.update(about_);
    if (Status logged = context_.log.append("audit_attempt", body); !logged) failed_ = logged;
  }
  [[nodiscard]] const Status& failed() const { return failed_; }

 private:
  const AskContext& context_;
  json about_;
  Status failed_ = Ok{};
};

Result<Evidence> evidence_of(const AskContext& context, const Sample& sample) {
  Evidence evidence;
  for (const auto& [part, text] :
       {std::pair("task", &evidence.source), std::pair("cuda", &evidence.cuda), std::pair("plan", &evidence.plan)}) {
    Result<std::string> blob = context.blobs.get(sample.subject.at(part));
    if (!blob) return blob.error();
    *text = std::move(blob).value();
  }
  evidence.plan = context.plan_listing(evidence.plan);
  return evidence;
}

// What the log has of this judge; an empty one if it was never asked.
Result<Judgement> judgement_of(const AskContext& context, const Sample& sample, const std::string& judge) {
  auto all = judgements_of(sample, context.log.events(), context.blobs);
  if (!all) return all.error();
  for (Judgement& judgement : all.value()) {
    if (judgement.judge == judge) return std::move(judgement);
  }
  return Judgement{};
}

// Asks once. Returns whether there is a reply now.
Result<bool> ask_once(const AskContext& context, const Sample& sample, llm::Provider& judge, int number,
                      const std::string& again) {
  Result<Evidence> evidence = evidence_of(context, sample);
  if (!evidence) return evidence.error();
  Result<Question> question = ask_about(context.judge_template, evidence.value(), again);
  if (!question) return question.error();
  Result<std::string> prompt = context.blobs.put(question.value().prompt);
  if (!prompt) return prompt.error();
  const json about = {{"task", sample.task}, {"sample", sample.number}, {"judge", judge.name()}, {"ask", number}};
  json body = about;
  body["prompt_sha256"] = prompt.value();
  body["subject"] = sample.subject;
  body["whole"] = question.value().whole;
  if (Status logged = context.log.append("audit_request", body); !logged) return logged.error();

  llm::Request request = context.request;
  request.prompt = question.value().prompt;
  request.task = fmt::format("audit-{}{}", sample.task, number == 1 ? "" : ".again");  // a spool's file for each
  request.sample = sample.number;
  context.say(fmt::format("{} sample {}: asking {}", sample.task, sample.number, judge.name()));
  LoggedProgress progress(context, about);
  Result<llm::Answer> answer = judge.complete(request, progress);
  if (!progress.failed()) return progress.failed().error();
  if (!answer) return answer.error().within(judge.name());
  if (const auto* pending = std::get_if<llm::Pending>(&answer.value())) {
    context.say(fmt::format("waiting: have {} answered in {}, then run the same command again", pending->prompt_path,
                            pending->waiting_for));
    return false;
  }
  if (const auto* none = std::get_if<llm::NoMore>(&answer.value())) return Error{Code::kNotFound, none->why};
  const auto& reply = std::get<llm::Reply>(answer.value());
  Result<std::string> text = context.blobs.put(reply.text);
  if (!text) return text.error();
  json told = llm::to_json(reply);
  told.update(about);
  told["prompt_sha256"] = prompt.value();
  told["answer_sha256"] = text.value();
  if (Status logged = context.log.append("audit_reply", told); !logged) return logged.error();
  return true;
}

}  // namespace

Result<bool> is_open(const AskContext& context, const Sample& sample, const std::string& judge) {
  Result<Judgement> judgement = judgement_of(context, sample, judge);
  if (!judgement) return judgement.error();
  return judgement.value().pending();
}

Status ask(const AskContext& context, const Sample& sample, llm::Provider& judge) {
  for (;;) {
    Result<Judgement> known = judgement_of(context, sample, judge.name());
    if (!known) return known.error();
    if (!known.value().pending()) return Ok{};
    Result<bool> answered = ask_once(context, sample, judge, known.value().replies + 1, known.value().unparsed);
    if (!answered) return answered.error();
    if (!answered.value()) return Ok{};
  }
}

}  // namespace kagent::audit
