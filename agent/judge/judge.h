// Judges answers to one task: trace, compile, validate, visible check, hidden check, time, profile.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "agent/base/result.h"
#include "agent/judge/build.h"
#include "agent/judge/check.h"
#include "agent/judge/crew.h"
#include "agent/judge/timing.h"
#include "agent/judge/verdict.h"

namespace kagent {

// The right to use one GPU, until `held` goes.
struct Slot {
  std::string gpu;
  std::shared_ptr<void> held;
};
// Waits for one. Errors: kCancelled (asked to stop), kBusy, kIo.
using TakeSlot = std::function<Result<Slot>()>;

struct JudgeSettings {
  CrewSpec crew;
  TimingRules timing;
  double gpu_lock_wait_s = 3600;
  bool profile = true;
  bool checking = false;      // emulate: run the checking build from the start
  bool all_rules = true;      // also those beyond the official check
  bool more_answers = false;  // after each one, the next answer's worker starts at once
  // Set: a judge of one answer among many. Tracing and compiling need no GPU; the slot is taken after them, and
  // `crew.device` must be known. Empty: the GPU is locked from the start.
  TakeSlot take_slot{};
};

// Called when a phase begins: "trace", "compile", ...
using OnPhase = std::function<void(std::string_view)>;

class Judge {
 public:
  // Takes the GPU's lock, unless a slot is taken later, and starts the processes. Errors are kagent's or the machine's.
  static Result<std::unique_ptr<Judge>> open(const Installation& installation, const JudgeSettings& settings,
                                             const std::string& task_id, OnPhase on_phase);
  ~Judge();

  // Never fails: what went wrong stands in the verdict.
  Verdict judge(const Program& program, const Seeds& seeds, Artifacts& artifacts);

  [[nodiscard]] const nlohmann::json& device() const { return crew_->device(); }
  [[nodiscard]] const nlohmann::json& environment() const { return crew_->environment(); }

 private:
  Judge() = default;
  std::optional<Failure> stages(const Program& program, const Seeds& seeds, Verdict& verdict, Artifacts& artifacts);
  [[nodiscard]] const char* why_not_run(const Rule& rule) const;
  using Phase = std::function<std::optional<Failure>()>;
  std::optional<Failure> take_slot(Verdict& verdict);
  std::optional<Failure> await_workers(const std::optional<std::string>& start_on_gpu, Verdict& verdict);
  std::optional<Failure> time_phase(const char* phase, const Phase& work, Verdict& verdict);
  std::optional<Failure> rules_beyond(Child& candidate, const Built& built, const Seeds& seeds,
                                      const std::string& exchange_file, Verdict& verdict);
  std::optional<Failure> load_null_plan(const nlohmann::json& candidate_plan, Verdict& verdict);
  void add_cached_baselines(Verdict& verdict) const;
  void profile(Child& candidate, Verdict& verdict);
  std::optional<Failure> time_winner_again(const Built& built, const Seeds& seeds, const std::string& exchange_file,
                                           Verdict& verdict);

  JudgeSettings settings_;
  std::string task_id_;
  OnPhase on_phase_;
  std::shared_ptr<void> slot_;  // outlives the crew
  std::unique_ptr<Crew> crew_;
  std::string exchange_folder_;  // where a candidate's outputs go for comparison
  std::string cache_folder_;     // where baselines that were measured before are
  double open_s_ = 0;
};

}  // namespace kagent
