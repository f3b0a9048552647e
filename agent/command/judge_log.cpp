#include "agent/command/judge_log.h"

#include <fmt/format.h>

#include "agent/base/sha256.h"

namespace kagent {

Status JudgeLog::open(const std::string& folder, const Task& task, const std::string& raw_answer) {
  const nlohmann::json identity = {{"kind", "judge"},
                                   {"tasks", {task.id}},
                                   {"task_sha256", task.source_sha256},
                                   {"answer_sha256", sha256_hex(raw_answer)}};
  auto run = run::RunDirectory::create_or_resume(folder, identity, nlohmann::json::object());
  if (!run) return run.error();
  auto log = run.value().open_task(task.id);
  if (!log) return log.error();
  const run::TaskState state = log.value()->state();
  if (state.ended)
    return Error{Code::kUsage, fmt::format("{} has its verdict already: see `kagent show {}`, or choose another --run",
                                           folder, folder)};
  log_ = std::move(log).value();
  if (!state.started) {
    Result<std::string> source = log_->blobs().put(task.source);
    if (!source) return source.error();
    if (Status status = log_->append("start", {{"task", task.id}, {"task_sha256", source.value()}}); !status)
      return status;
  }
  if (state.samples.empty() || !state.samples[0].reply) {
    Result<std::string> answer = log_->blobs().put(raw_answer);
    if (!answer) return answer.error();
    const nlohmann::json body = {
        {"sample", 1}, {"answer_sha256", answer.value()}, {"provider", "file"}, {"model", "unstated"}};
    if (Status status = log_->append("reply", body); !status) return status;
  }
  return Ok{};
}

Status JudgeLog::before(const Seeds& seeds) {
  if (!log_) return Ok{};
  return log_->append("judge", {{"sample", 1}, {"seeds", to_json(seeds)}});
}

Status JudgeLog::after(const nlohmann::json& verdict, const Artifacts& artifacts) {
  if (!log_) return Ok{};
  nlohmann::json hashes = nlohmann::json::object();
  for (const auto& [name, bytes] : artifacts) {
    Result<std::string> hash = log_->blobs().put(bytes);
    if (!hash) return hash.error();
    hashes[name] = hash.value();
  }
  const nlohmann::json body = {{"sample", 1}, {"verdict", verdict}, {"artifacts", hashes}};
  if (Status status = log_->append("verdict", body); !status) return status;
  return log_->append("end", {{"reason", "judged"}});
}

}  // namespace kagent
