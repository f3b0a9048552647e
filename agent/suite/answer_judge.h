// Judges one answer among many: tracer and compiler for a while, then a GPU's slot, then everything goes.
#pragma once

#include <condition_variable>
#include <mutex>

#include "agent/suite/slots.h"
#include "agent/task/task.h"

namespace kagent::suite {

// At most so many answers are traced, compiled or wait compiled for a GPU at a time: each has processes that hold
// torch in memory.
class Builders {
 public:
  explicit Builders(int most) : free_(most) {}
  // Waits; the place is free again when what it returns goes.
  std::shared_ptr<void> take();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int free_;
};

class AnswerJudge {
 public:
  // `settings.crew.device` is known and the same for all GPUs of `slots`.
  AnswerJudge(Installation installation, JudgeSettings settings, Slots& slots, int builders)
      : installation_(std::move(installation)), settings_(std::move(settings)), slots_(slots), builders_(builders) {}

  // Never fails: as Judge::judge. A GPU that stops answering is retired and the answer judged on another. Many threads.
  Verdict judge(const Task& task, const Program& program, const Seeds& seeds, Artifacts& artifacts,
                const OnPhase& on_phase);

 private:
  Installation installation_;
  JudgeSettings settings_;
  Slots& slots_;
  Builders builders_;
};

}  // namespace kagent::suite
