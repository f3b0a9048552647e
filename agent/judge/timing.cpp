#include "agent/judge/timing.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "agent/base/json_text.h"
#include "agent/base/printable.h"

namespace kagent {
namespace {

using Seconds = std::chrono::duration<double>;

// One process and one kind of run that takes turns with the others.
struct Contender {
  Child* worker = nullptr;
  std::string kind;
  std::vector<Burst> bursts;
  std::optional<Failure> failure;
};

std::optional<Failure> begin(Crew& crew, Contender& c) {
  const ChildReply reply = c.worker->ask({{"cmd", "time_begin"}, {"kind", c.kind}, {"seed", 42}, {"warmup", 5}},
                                         Seconds(crew.deadlines().time));
  return failure_of(*c.worker, reply, "time");
}

std::optional<Failure> burst(Crew& crew, Contender& c, int runs) {
  const ChildReply reply =
      c.worker->ask({{"cmd", "time_burst"}, {"kind", c.kind}, {"count", runs}}, Seconds(crew.deadlines().time));
  if (auto failure = failure_of(*c.worker, reply, "time")) return failure;
  Burst times;
  for (const auto& ms : array_in(reply.answer, "ms")) {
    if (ms.is_number()) times.push_back(ms.get<double>());
  }
  if (static_cast<int>(times.size()) != runs) {
    return Failure{
        "internal",   "garbled", fmt::format("the {} timed {} of {} runs", c.worker->name(), times.size(), runs),
        std::nullopt, "",        ""};
  }
  times.erase(times.begin());
  c.bursts.push_back(times);
  return std::nullopt;
}

// Who else held memory of the GPU, by name and number: times beside others are worth less.
std::string others_in(const nlohmann::json& answer) {
  std::string names;
  for (const auto& process : array_in(answer, "gpu_processes")) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", printable(text_or(process, "name", "unknown")),
                         integer_or(process, "pid", 0));
  }
  return names;
}

std::optional<Failure> end(Crew& crew, Contender& c, std::int64_t& peak_bytes, nlohmann::json& clocks,
                           std::string& others_seen) {
  const ChildReply reply = c.worker->ask({{"cmd", "time_end"}, {"kind", c.kind}}, Seconds(crew.deadlines().time));
  if (auto failure = failure_of(*c.worker, reply, "time")) return failure;
  peak_bytes = integer_or(reply.answer, "peak_bytes", 0);
  if (reply.answer.contains("clocks")) clocks[c.kind] = reply.answer["clocks"];
  if (others_seen.empty()) others_seen = others_in(reply.answer);
  return std::nullopt;
}

// A random timed run's outputs must be right too.
std::optional<Failure> check_timed_run(Crew& crew, Child& candidate, const std::string& file) {
  const ChildReply kept =
      candidate.ask({{"cmd", "time_check"}, {"kind", "plan"}, {"out", file}}, Seconds(crew.deadlines().run));
  if (auto failure = failure_of(candidate, kept, "time")) return failure;
  const ChildReply compared = crew.reference().ask({{"cmd", "compare"},
                                                    {"seed", integer_or(kept.answer, "seed", 0)},
                                                    {"scale", number_or(kept.answer, "scale", 1.0)},
                                                    {"calls", integer_or(kept.answer, "calls", 1)},
                                                    {"drawn_on", text_or(kept.answer, "drawn_on", "host")},
                                                    {"file", file},
                                                    {"tolerance", kTolerance},
                                                    {"flags", "official"},
                                                    {"outputs_only", true}},
                                                   Seconds(crew.deadlines().compare));
  if (auto failure = failure_of(crew.reference(), compared, "internal")) return failure;
  if (flag_or(compared.answer, "passed", false)) return std::nullopt;
  return Failure{"time",
                 "timed_output_wrong",
                 "the output of a timed run is wrong although the checked runs were right",
                 std::nullopt,
                 "",
                 text_or(compared.answer, "reason", "")};
}

int rounds_by_baseline(const std::vector<Burst>& pilot, const TimingRules& rules) {
  const double eager_ms = summarise(pilot).mean_ms;
  const int affordable = static_cast<int>(rules.time_cap_s * 1000 / (eager_ms * rules.burst));
  const int most = std::max(rules.min_bursts, std::min(rules.max_bursts, affordable));
  return bursts_needed(pilot, rules.relative_width, rules.min_bursts, most);
}

}  // namespace

std::optional<Failure> time_candidate(Crew& crew, Child& candidate, const TimingRules& rules,
                                      const std::string& exchange_file, Verdict& verdict) {
  std::vector<Contender> others;
  for (const char* kind : {"eager", "graphed_eager", "null_plan"}) {
    others.push_back({&crew.reference(), kind, {}, std::nullopt});
  }
  Contender mine{&candidate, "plan", {}, std::nullopt};

  for (Contender& c : others) c.failure = begin(crew, c);
  if (others[0].failure) return others[0].failure;
  std::vector<Burst> pilot;
  for (int i = 0; i < rules.pilot_bursts; ++i) {
    if (auto failure = burst(crew, others[0], rules.burst)) return failure;
  }
  pilot.swap(others[0].bursts);
  const int rounds = rounds_by_baseline(pilot, rules);

  if (auto failure = begin(crew, mine)) return failure;
  for (int round = 0; round < rounds; ++round) {
    for (Contender& c : others) {
      if (!c.failure) c.failure = burst(crew, c, rules.burst);
      if (c.failure && !c.worker->alive()) return c.failure;
      // The candidate runs right after eager, so that this pair, the one that counts, is closest in time.
      if (c.kind == "eager") {
        if (auto failure = burst(crew, mine, rules.burst)) return failure;
      }
    }
    if (others[0].failure) return others[0].failure;
  }
  if (auto failure = check_timed_run(crew, candidate, exchange_file)) return failure;

  nlohmann::json clocks = nlohmann::json::object();
  std::string others_seen;
  if (auto failure = end(crew, mine, verdict.candidate_peak_bytes, clocks, others_seen)) return failure;
  const double charged_ms = number_or(verdict.plan, "prepare_charged_ms", 0.0);
  for (Burst& times : mine.bursts) {
    for (double& ms : times) ms += charged_ms;
  }
  verdict.candidate = summarise(mine.bursts);
  for (Contender& c : others) {
    Timed& timed = verdict.baselines[c.kind];
    if (c.failure) {
      timed.note = c.failure->reason;
      continue;
    }
    if (auto failure = end(crew, c, timed.peak_bytes, clocks, others_seen)) return failure;
    timed.summary = summarise(c.bursts);
    timed.speedup = ratio_of(c.bursts, mine.bursts);
  }
  if (!clocks.empty()) verdict.environment["clocks"] = clocks;
  if (!others_seen.empty())
    verdict.warnings.push_back(
        fmt::format("other processes were on the GPU while this was timed: {}; end them and judge again", others_seen));
  // A null plan that this machine cannot make or run is no bar: the verdict's warnings and notes say so.
  const auto beats = [&](const char* name) {
    const Timed& timed = verdict.baselines[name];
    return timed.speedup && timed.speedup->low > 1.0;
  };
  const bool beats_null_plan = beats("null_plan");
  verdict.record("null_plan",
                 !verdict.baselines["null_plan"].speedup ? RuleOutcome::kNotRun
                 : beats_null_plan                       ? RuleOutcome::kPass
                                                         : RuleOutcome::kFlag,
                 beats_null_plan ? "faster than the reference run by the same executor"
                                 : "not faster than the reference run by the same executor, or not measured",
                 nullptr);
  verdict.faster = beats("eager") && (beats_null_plan || !verdict.baselines["null_plan"].speedup);
  return std::nullopt;
}

}  // namespace kagent
