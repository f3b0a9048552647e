#include "agent/suite/answer_judge.h"

namespace kagent::suite {
namespace {

Verdict not_judged(const Task& task, const JudgeSettings& settings, const Error& error) {
  Verdict verdict;
  verdict.task = task.id;
  verdict.backend = settings.crew.backend;
  verdict.failure =
      Failure{"internal", error.code == Code::kCancelled ? kStopAsked : "judge", error.message, std::nullopt, "", ""};
  return verdict;
}

bool says_nothing(const Verdict& verdict) {
  return verdict.outcome == Outcome::kError && !(verdict.failure && verdict.failure->kind == kStopAsked);
}

}  // namespace

std::shared_ptr<void> Builders::take() {
  std::unique_lock<std::mutex> guard(mutex_);
  changed_.wait(guard, [&] { return free_ > 0; });
  --free_;
  return {nullptr, [this](void* /*nothing*/) {
            const std::lock_guard<std::mutex> back(mutex_);
            ++free_;
            changed_.notify_one();
          }};
}

Verdict AnswerJudge::judge(const Task& task, const Program& program, const Seeds& seeds, Artifacts& artifacts,
                           const OnPhase& on_phase) {
  const std::shared_ptr<void> place = builders_.take();
  JudgeSettings settings = settings_;
  settings.crew.task_file = task.path;
  while (true) {
    std::string gpu;
    settings.take_slot = [&]() -> Result<Slot> {
      Result<Slot> slot = slots_.take();
      if (slot) gpu = slot.value().gpu;
      return slot;
    };
    Verdict verdict;
    {
      auto judge = Judge::open(installation_, settings, task.id, on_phase);
      verdict = judge ? judge.value()->judge(program, seeds, artifacts) : not_judged(task, settings, judge.error());
    }
    if (!says_nothing(verdict) || gpu.empty() || settings.crew.backend != "cuda") return verdict;
    CrewSpec spec = settings.crew;
    spec.gpu = gpu;
    Result<nlohmann::json> alive = probe_device(installation_, spec);
    if (alive) return verdict;  // the GPU is well: something else failed, and the log says so
    slots_.retire(gpu, alive.error().message);
    artifacts.clear();
  }
}

}  // namespace kagent::suite
