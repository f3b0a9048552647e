#include "agent/judge/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
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
  std::vector<Burst> bursts = {};
  std::optional<Failure> failure = std::nullopt;
  double floor_ms = 0;                   // the null plan's: what no run of this task can be faster than
  std::set<std::string> slowed_by = {};  // of the last burst: what held the clocks down
  bool ran = false;                      // in the last round
};

// What was timed, side by side.
struct Session {
  std::vector<Contender> others;  // eager first
  Contender mine;
  int discarded = 0;  // rounds
};

std::optional<Failure> begin(Crew& crew, Contender& c) {
  const ChildReply reply = c.worker->ask({{"cmd", "time_begin"}, {"kind", c.kind}, {"seed", 42}, {"warmup", 5}},
                                         Seconds(crew.deadlines().time));
  c.floor_ms = number_or(reply.answer, "floor_ms", 0.0);
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
  c.slowed_by.clear();
  for (const auto& word : array_in(reply.answer, "slowed_by")) {
    if (word.is_string()) c.slowed_by.insert(word.get<std::string>());
  }
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

// A round whose clocks were held down says nothing of anybody. Too many of them: the machine is to blame.
std::optional<Failure> discard_if_slowed(Session& session, int rounds, const TimingRules& rules) {
  std::set<std::string> why = session.mine.slowed_by;
  for (const Contender& c : session.others) {
    if (c.ran) why.insert(c.slowed_by.begin(), c.slowed_by.end());
  }
  if (why.empty()) return std::nullopt;
  session.mine.bursts.pop_back();
  for (Contender& c : session.others) {
    if (c.ran) c.bursts.pop_back();
  }
  ++session.discarded;
  // Of all rounds, kept and discarded.
  const double share = static_cast<double>(session.discarded) / (rounds + session.discarded);
  if (session.discarded < 2 || share <= rules.slowed_share) return std::nullopt;
  return Failure{
      "internal",
      "throttled",
      fmt::format("the GPU's clocks were held down ({}) in {} rounds of timing, more than {:.0f}% of them: let "
                  "it cool down or see `nvidia-smi -q -d PERFORMANCE`, and judge again",
                  fmt::join(why, ", "), session.discarded, 100 * rules.slowed_share),
      std::nullopt,
      "",
      ""};
}

// Eager and the candidate in each round, the others in the first few.
std::optional<Failure> run_round(Crew& crew, Session& session, const TimingRules& rules) {
  const int runs = rules.burst;
  for (Contender& c : session.others) {
    c.ran = !c.failure && (c.kind == "eager" || c.bursts.size() < static_cast<std::size_t>(rules.min_bursts));
    if (c.ran) c.failure = burst(crew, c, runs);
    c.ran = c.ran && !c.failure;
    if (c.failure && !c.worker->alive()) return c.failure;
    // The candidate runs right after eager, so that this pair, the one that counts, is closest in time.
    if (c.kind == "eager") {
      if (c.failure) return c.failure;
      if (auto failure = burst(crew, session.mine, runs)) return failure;
    }
  }
  return std::nullopt;
}

// Contenders that fail carry their failure; eager's and the candidate's end it all.
std::optional<Failure> run_session(Crew& crew, Session& session, const TimingRules& rules, int rounds,
                                   const std::string& exchange_file) {
  for (Contender& c : session.others) c.failure = begin(crew, c);
  Contender& eager = session.others.front();
  if (eager.failure) return eager.failure;
  if (rounds == 0) {
    std::vector<Burst> pilot;
    for (int i = 0; i < rules.pilot_bursts; ++i) {
      if (auto failure = burst(crew, eager, rules.burst)) return failure;
    }
    pilot.swap(eager.bursts);
    rounds = rounds_by_baseline(pilot, rules);
  }
  if (auto failure = begin(crew, session.mine)) return failure;
  // Outputs of a round that nobody knows beforehand are held against the reference, and those of the last one.
  std::random_device source;
  const int looked_at = std::uniform_int_distribution<int>(0, rounds - 1)(source);
  for (int round = 0; round < rounds + session.discarded; ++round) {
    if (auto failure = run_round(crew, session, rules)) return failure;
    if (auto failure = discard_if_slowed(session, rounds, rules)) return failure;
    if (round != looked_at && round + 1 != rounds + session.discarded) continue;
    if (auto failure = check_timed_run(crew, *session.mine.worker, exchange_file)) return failure;
  }
  return std::nullopt;
}

Session session_of(Crew& crew, Child& candidate, const std::vector<const char*>& kinds) {
  Session session;
  for (const char* kind : kinds) session.others.push_back(Contender{.worker = &crew.reference(), .kind = kind});
  session.mine = Contender{.worker = &candidate, .kind = "plan"};
  return session;
}

void charge(const Verdict& verdict, std::vector<Burst>& bursts) {
  const double charged_ms = number_or(verdict.plan, "prepare_charged_ms", 0.0);
  for (Burst& times : bursts) {
    for (double& ms : times) ms += charged_ms;
  }
}

bool beats(const Verdict& verdict, const char* name) {
  const auto timed = verdict.baselines.find(name);
  return timed != verdict.baselines.end() && timed->second.speedup && timed->second.speedup->low > 1.0;
}

// Faster than both; a null plan that could not be measured is not beaten.
void settle_speed(Verdict& verdict) {
  const bool measured = verdict.baselines["null_plan"].speedup.has_value();
  const bool beats_null_plan = beats(verdict, "null_plan");
  verdict.record("null_plan",
                 !measured         ? RuleOutcome::kNotRun
                 : beats_null_plan ? RuleOutcome::kPass
                                   : RuleOutcome::kFlag,
                 beats_null_plan ? "faster than the reference run by the same executor"
                 : measured      ? "not faster than the reference run by the same executor"
                                 : "not measured: the answer does not count as faster",
                 nullptr);
  verdict.faster = beats(verdict, "eager") && beats_null_plan;
}

// Alarm: no memory is that fast, so kagent was fooled somewhere.
std::optional<Failure> hold_floor(double floor_ms, const Summary& uncharged, Verdict& verdict) {
  const nlohmann::json evidence = {{"floor_ms", floor_ms}, {"median_ms", uncharged.median_ms}};
  if (uncharged.median_ms >= floor_ms) {
    verdict.record("floor", RuleOutcome::kPass,
                   floor_ms > 0 ? fmt::format("{:.4g} ms; what must be read and written takes {:.4g} ms at least",
                                              uncharged.median_ms, floor_ms)
                                : "what must be read and written fits into the L2, or is not known",
                   evidence);
    return std::nullopt;
  }
  const std::string what = fmt::format(
      "timed at {:.4g} ms, but reading the inputs and writing the outputs alone takes {:.4g} ms at the "
      "memory's full speed",
      uncharged.median_ms, floor_ms);
  verdict.record("floor", RuleOutcome::kFail, what, evidence);
  return Failure{"time", "floor", what, std::nullopt, "", ""};
}

nlohmann::json ratio_json(const std::optional<Ratio>& r) {
  if (!r) return nullptr;
  return {{"ratio", r->ratio}, {"low", r->low}, {"high", r->high}, {"bursts", r->pairs}};
}

}  // namespace

std::optional<Failure> time_candidate(Crew& crew, Child& candidate, const TimingRules& rules,
                                      const std::string& exchange_file, Verdict& verdict) {
  Session session = session_of(crew, candidate, {"eager", "graphed_eager", "null_plan"});
  if (auto failure = run_session(crew, session, rules, 0, exchange_file)) return failure;

  nlohmann::json clocks = nlohmann::json::object();
  std::string others_seen;
  if (auto failure = end(crew, session.mine, verdict.candidate_peak_bytes, clocks, others_seen)) return failure;
  const Summary uncharged = summarise(session.mine.bursts);
  charge(verdict, session.mine.bursts);
  verdict.candidate = summarise(session.mine.bursts);
  double floor_ms = 0;
  for (Contender& c : session.others) {
    Timed& timed = verdict.baselines[c.kind];
    if (c.failure) {
      timed.note = c.failure->reason;
      continue;
    }
    if (auto failure = end(crew, c, timed.peak_bytes, clocks, others_seen)) return failure;
    timed.summary = summarise(c.bursts);
    timed.speedup = ratio_of(c.bursts, session.mine.bursts);
    floor_ms = std::max(floor_ms, c.floor_ms);
  }
  if (!clocks.empty()) verdict.environment["clocks"] = clocks;
  if (!others_seen.empty())
    verdict.warnings.push_back(
        fmt::format("other processes were on the GPU while this was timed: {}; end them and judge again", others_seen));
  if (session.discarded > 0)
    verdict.warnings.push_back(fmt::format("{} of {} rounds of timing were discarded: the clocks were held down",
                                           session.discarded, session.discarded + session.mine.bursts.size()));
  settle_speed(verdict);
  return hold_floor(floor_ms, uncharged, verdict);
}

std::optional<Failure> time_again(Crew& crew, Child& candidate, const TimingRules& rules,
                                  const std::string& exchange_file, Verdict& verdict) {
  Session session = session_of(crew, candidate, {"eager", "null_plan"});
  if (auto failure = run_session(crew, session, rules, rules.min_bursts, exchange_file)) return failure;
  std::int64_t peak_bytes = 0;
  nlohmann::json clocks;
  std::string others_seen;
  if (auto failure = end(crew, session.mine, peak_bytes, clocks, others_seen)) return failure;
  charge(verdict, session.mine.bursts);
  // All of the session with the lower speed-up over eager counts, so that its figures fit together.
  std::map<std::string, Timed> again = verdict.baselines;
  bool holds = true;
  for (Contender& c : session.others) {
    if (c.failure) return c.failure;
    if (auto failure = end(crew, c, peak_bytes, clocks, others_seen)) return failure;
    Timed& timed = again[c.kind];
    verdict.retimed[c.kind] = {{"first", ratio_json(timed.speedup)}};
    timed.summary = summarise(c.bursts);
    timed.speedup = ratio_of(c.bursts, session.mine.bursts);
    verdict.retimed[c.kind]["again"] = ratio_json(timed.speedup);
    holds = holds && timed.speedup && timed.speedup->low > 1.0;
  }
  const auto ratio = [](const std::map<std::string, Timed>& baselines) {
    const auto& speedup = baselines.at("eager").speedup;
    return speedup ? speedup->ratio : 0.0;
  };
  if (ratio(again) < ratio(verdict.baselines)) {
    verdict.baselines = again;
    verdict.candidate = summarise(session.mine.bursts);
    settle_speed(verdict);
  }
  if (!holds)
    verdict.warnings.emplace_back("not faster when timed again in a fresh process: it does not count as faster");
  verdict.faster = verdict.faster && holds;
  return std::nullopt;
}

}  // namespace kagent
