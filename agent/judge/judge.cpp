#include "agent/judge/judge.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "agent/base/json_text.h"
#include "agent/base/sha256.h"
#include "agent/judge/baseline_cache.h"
#include "agent/judge/beyond.h"
#include "agent/judge/code_rules.h"
#include "agent/judge/distribution_timing.h"
#include "agent/judge/emulation.h"
#include "agent/judge/gpu_lock.h"
#include "agent/judge/null_plan.h"
#include "agent/judge/work_rules.h"

namespace kagent {
namespace {

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return Seconds(Clock::now() - begin).count(); }

// Outputs travel through memory, not the disk, where there is room.
Result<std::string> make_exchange_folder() {
  std::error_code ignored;
  const bool shm = std::filesystem::exists("/dev/shm", ignored) &&
                   std::filesystem::space("/dev/shm", ignored).available > (std::uintmax_t{8} << 30);
  std::string folder = std::string(shm ? "/dev/shm" : "/tmp") + "/kagent-exchange-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return Error{Code::kIo, "cannot make a folder for outputs: " + folder};
  return folder;
}

// The worst single difference of all visible comparisons, in words a log reader wants first.
std::string outcome_line(const Verdict& verdict) { return verdict.failure ? verdict.failure->reason : "accepted"; }

}  // namespace

Result<std::unique_ptr<Judge>> Judge::open(const Installation& installation, const JudgeSettings& settings,
                                           const std::string& task_id, OnPhase on_phase) {
  const auto begin = Clock::now();
  std::unique_ptr<Judge> judge(new Judge());
  judge->settings_ = settings;
  judge->task_id_ = task_id;
  judge->on_phase_ = std::move(on_phase);
  judge->cache_folder_ = installation.cache;
  if (settings.crew.backend == "cuda" && !settings.take_slot) {
    judge->on_phase_("waiting for the GPU");
    auto lock = GpuLock::take(settings.crew.gpu, settings.gpu_lock_wait_s);
    if (!lock) return lock.error();
    judge->slot_ = std::move(lock).value();
  }
  Result<std::string> folder = make_exchange_folder();
  if (!folder) return folder.error();
  judge->exchange_folder_ = folder.value();
  judge->on_phase_(settings.take_slot ? "starting tracer and compiler" : "starting tracer, compiler and workers");
  auto crew =
      Crew::assemble(installation, settings.crew, settings.take_slot ? Crew::Workers::kLater : Crew::Workers::kNow);
  if (!crew) return crew.error();
  judge->crew_ = std::move(crew).value();
  judge->open_s_ = since(begin);
  return judge;
}

Judge::~Judge() {
  std::error_code ignored;
  if (!exchange_folder_.empty()) std::filesystem::remove_all(exchange_folder_, ignored);
}

Verdict Judge::judge(const Program& program, const Seeds& seeds, Artifacts& artifacts) {
  Verdict verdict;
  verdict.task = task_id_;
  verdict.backend = crew_->spec().backend;
  verdict.environment = crew_->environment();
  verdict.seeds = to_json(seeds);
  verdict.phases_s.emplace_back("start", open_s_);
  verdict.failure = stages(program, seeds, verdict, artifacts);
  // A GPU that fell off its bus looks, from the candidate's worker, like a kernel that crashed.
  if (verdict.failure && verdict.failure->stage != "internal" && !crew_->gpu_answers()) {
    verdict.failure =
        Failure{"internal",
                "gpu_gone",
                "the GPU does not answer any more, see `nvidia-smi`; it went while: " + verdict.failure->reason,
                std::nullopt,
                "",
                verdict.failure->detail};
  }
  if (!verdict.failure) {
    verdict.outcome = Outcome::kAccepted;
  } else if (verdict.failure->stage == "internal" || verdict.failure->kind == "no_emulation") {
    verdict.outcome = Outcome::kError;
  } else if ((verdict.failure->kind == "needs_gpu" && !crew_->has_gpu()) ||
             (crew_->emulates() && undecided_by_emulation(verdict.failure->kind))) {
    verdict.outcome = Outcome::kUndecided;
  } else {
    verdict.outcome = Outcome::kRejected;
  }
  verdict.record_not_run([this](const Rule& rule) { return why_not_run(rule); });
  if (verdict.candidate && crew_->has_gpu()) add_cached_baselines(verdict);
  on_phase_(fmt::format("{}: {}", to_string(verdict.outcome), outcome_line(verdict)));
  open_s_ = 0;  // only the first verdict paid for the start
  if (crew_->has_workers()) crew_->retire_candidate(settings_.more_answers);
  return verdict;
}

const char* Judge::why_not_run(const Rule& rule) const {
  if (rule.needs_gpu && !crew_->has_gpu()) return "needs a GPU";
  return crew_->emulates() && !settings_.all_rules ? "emulated without --all-rules" : "the answer did not come so far";
}

std::optional<Failure> Judge::stages(const Program& program, const Seeds& seeds, Verdict& verdict,
                                     Artifacts& artifacts) {
  const auto timed = [&](const char* phase, const Phase& work) { return time_phase(phase, work, verdict); };
  on_phase_("trace and compile");
  Built built;
  if (auto failure = build(*crew_, program, verdict, artifacts, built)) return failure;
  if (auto failure = check_code(built.lint, built.plan, verdict)) return failure;

  if (crew_->emulates()) {
    on_phase_("compile for the CPU");
    if (auto failure = build_emulated(*crew_, program, settings_.checking, verdict, built)) return failure;
  }

  if (auto failure = take_slot(verdict)) return failure;
  Result<Child*> candidate = crew_->new_candidate();
  if (!candidate) return Failure{"internal", "worker", candidate.error().message, std::nullopt, "", ""};
  Child& worker = *candidate.value();
  if (auto failure = timed("validate", [&] { return load(*crew_, worker, built, verdict.plan); })) return failure;
  if (!crew_->has_gpu() && !crew_->emulates()) {
    return Failure{"run",        "needs_gpu", "compiled and validated; there is no GPU here to run, check and time it",
                   std::nullopt, "",          ""};
  }
  const std::string file = exchange_folder_ + "/outputs.bin";
  if (auto failure = timed("visible check", [&] { return check_visible(*crew_, worker, seeds, file, verdict); })) {
    if (!crew_->emulates() || settings_.checking || says_nothing(*crew_, *failure)) return failure;
    const Draw& draw = seeds.visible[verdict.visible.size() - 1];
    std::optional<Failure> why;
    timed("checking build", [&] {
      why = diagnose(*crew_, program, built, draw, file, verdict);
      return std::optional<Failure>();
    });
    return why ? why : failure;
  }
  if (auto failure = timed("hidden check", [&] { return check_hidden(*crew_, worker, seeds, file, verdict); }))
    return failure;
  if (auto failure = rules_beyond(worker, built, seeds, file, verdict)) return failure;
  if (crew_->emulates()) {
    verdict.warnings.push_back(
        "emulated on the CPU: says whether results are right, never how fast; it does not count");
    return std::nullopt;
  }
  if (auto failure = timed("null plan", [&] { return load_null_plan(verdict.plan, verdict); })) return failure;
  if (auto failure =
          timed("time", [&] { return time_candidate(*crew_, worker, settings_.timing, seeds, file, verdict); }))
    return failure;
  if (auto failure = timed("distributions", [&] { return time_distributions(*crew_, worker, seeds, verdict); }))
    return failure;
  if (settings_.profile) {
    timed("profile", [&] {
      profile(worker, verdict);
      record_custom_share(verdict);
      return std::optional<Failure>();
    });
  }
  if (!verdict.faster) return std::nullopt;
  return timed("time again", [&] { return time_winner_again(built, seeds, file, verdict); });
}

std::optional<Failure> Judge::time_winner_again(const Built& built, const Seeds& seeds, const std::string& file,
                                                Verdict& verdict) {
  Result<Child*> fresh = crew_->new_candidate();
  if (!fresh) return Failure{"internal", "worker", fresh.error().message, std::nullopt, "", ""};
  nlohmann::json known = verdict.plan;
  if (auto failure = load(*crew_, *fresh.value(), built, known)) return failure;
  return time_again(*crew_, *fresh.value(), settings_.timing, seeds, file, verdict);
}

std::optional<Failure> Judge::take_slot(Verdict& verdict) {
  if (crew_->has_workers()) return await_workers(std::nullopt, verdict);
  Result<Slot> slot = Error{};
  time_phase(
      "queue",
      [&] {
        slot = settings_.take_slot();
        return std::optional<Failure>();
      },
      verdict);
  if (!slot) {
    const char* kind = slot.error().code == Code::kCancelled ? kStopAsked : "no_slot";
    return Failure{"internal", kind, slot.error().message, std::nullopt, "", ""};
  }
  slot_ = slot.value().held;
  return await_workers(slot.value().gpu, verdict);
}

std::optional<Failure> Judge::await_workers(const std::optional<std::string>& start_on_gpu, Verdict& verdict) {
  return time_phase(
      "start workers",
      [&]() -> std::optional<Failure> {
        Status ready = start_on_gpu ? crew_->start_workers(*start_on_gpu) : Status(Ok{});
        if (ready) ready = crew_->await_reference();
        if (!ready) return Failure{"internal", "worker", ready.error().message, std::nullopt, "", ""};
        verdict.environment.update(crew_->environment());
        return std::nullopt;
      },
      verdict);
}

std::optional<Failure> Judge::time_phase(const char* phase, const Phase& work, Verdict& verdict) {
  on_phase_(phase);
  const auto begin = Clock::now();
  std::optional<Failure> failure = work();
  verdict.phases_s.emplace_back(phase, since(begin));
  return failure;
}

std::optional<Failure> Judge::rules_beyond(Child& worker, const Built& built, const Seeds& seeds,
                                           const std::string& file, Verdict& verdict) {
  if (!settings_.all_rules) return std::nullopt;
  const auto timed = [&](const char* phase, const Phase& work) { return time_phase(phase, work, verdict); };
  if (auto failure = timed("hidden rules", [&] { return check_beyond(*crew_, worker, seeds, file, verdict); }))
    return failure;
  return timed("work rules", [&] { return check_work(*crew_, worker, built, seeds, file, verdict); });
}

std::optional<Failure> Judge::load_null_plan(const nlohmann::json& candidate_plan, Verdict& verdict) {
  // In the candidate's own mode: what the executor alone would win.
  const auto failure = kagent::load_null_plan(crew_->tracer(), crew_->reference(), crew_->device(),
                                              flag_or(candidate_plan, "graph", true), crew_->deadlines());
  if (!failure) return std::nullopt;
  if (!crew_->reference().alive()) return failure;
  verdict.warnings.push_back("no null plan: " + failure->reason);
  return std::nullopt;
}

void Judge::add_cached_baselines(Verdict& verdict) const {
  const Result<std::string> hash = sha256_of_file(crew_->spec().task_file);
  if (!hash) return;  // nothing is known of a file that is gone
  const Result<nlohmann::json> entry = find_baselines(cache_folder_, baseline_key(crew_->environment(), hash.value()));
  if (entry) {
    add_baselines(entry.value(), verdict);
  } else if (entry.error().code != Code::kNotFound) {
    verdict.warnings.push_back("no cached baselines: " + entry.error().message);
  }
}

void Judge::profile(Child& candidate, Verdict& verdict) {
  const auto ask = [&](Child& worker, const char* kind) {
    const ChildReply reply = worker.ask({{"cmd", "profile"}, {"kind", kind}}, Seconds(crew_->deadlines().profile));
    if (auto failure = failure_of(worker, reply, "internal")) {
      verdict.warnings.push_back(fmt::format("no profile of {}: {}", kind, failure->reason));
      return;
    }
    verdict.profile[kind] = {{"total_ms", number_or(reply.answer, "total_ms", 0.0)},
                             {"kernels", array_in(reply.answer, "kernels")}};
  };
  ask(candidate, "plan");
  ask(crew_->reference(), "eager");
}

}  // namespace kagent
