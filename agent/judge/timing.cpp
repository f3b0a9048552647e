#include "agent/judge/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "agent/base/json_text.h"
#include "agent/judge/contender.h"

namespace kagent {
namespace {

using Seconds = std::chrono::duration<double>;

// What was timed, side by side.
struct Session {
  std::vector<Contender> others;  // eager first
  Contender mine;
  int discarded = 0;   // rounds
  int unexamined = 0;  // rounds whose outputs were compared, and whose accuracy was not looked at
  double deadline_s = 0;
};

// Keeps what the end of one contender's timing tells beside what is known of the others.
std::optional<Failure> end(Session& session, Contender& c, std::int64_t& peak_bytes, nlohmann::json& clocks,
                           std::string& others_seen) {
  TimingEnd seen;
  if (auto failure = end(c, session.deadline_s, seen)) return failure;
  peak_bytes = seen.peak_bytes;
  if (!seen.clocks.is_null()) clocks[c.kind] = seen.clocks;
  if (others_seen.empty()) others_seen = seen.others;
  return std::nullopt;
}

Failure wrong_when_timed(const std::string& detail) {
  return {"time",
          "timed_output_wrong",
          "the output of a timed run is wrong although the checked runs were right",
          std::nullopt,
          "",
          detail};
}

// A random timed run's outputs must be right too, and as accurate as honest work. Accuracy is left out where the memory
// does not suffice for it beside the timed inputs.
std::optional<Failure> check_timed_run(Crew& crew, Session& session, const std::string& file) {
  Child& candidate = *session.mine.worker;
  const ChildReply kept =
      candidate.ask({{"cmd", "time_check"}, {"kind", "plan"}, {"out", file}}, Seconds(crew.deadlines().run));
  if (auto failure = failure_of(candidate, kept, "time")) return failure;
  Draw draw;
  draw.seed = integer_or(kept.answer, "seed", 0);
  draw.scale = number_or(kept.answer, "scale", 1.0);
  draw.drawn_on = text_or(kept.answer, "drawn_on", "host");
  const ChildReply compared = ask_compare(crew, draw, file, true);
  if (auto failure = failure_of(crew.reference(), compared, "internal")) return failure;
  if (!flag_or(compared.answer, "passed", false)) return wrong_when_timed(text_or(compared.answer, "reason", ""));
  const ChildReply examined = ask_examine(crew, draw, file, true);
  if (auto failure = failure_of(crew.reference(), examined, "internal")) {
    if (failure->kind != "out_of_memory" || !crew.reference().alive()) return failure;
    ++session.unexamined;
    return std::nullopt;
  }
  if (flag_or(examined.answer, "passed", false)) return std::nullopt;
  return wrong_when_timed(text_or(examined.answer, "reason", "less accurate than honest work"));
}

// Eager and the candidate in each round, the others in the first few. `ran`: who did.
std::optional<Failure> run_round(Session& session, const TimingRules& rules, std::vector<Contender*>& ran) {
  const int runs = rules.burst;
  for (Contender& c : session.others) {
    if (c.failure || (c.kind != "eager" && c.bursts.size() >= static_cast<std::size_t>(rules.min_bursts))) continue;
    c.failure = burst(c, runs, session.deadline_s);
    if (!c.failure) ran.push_back(&c);
    if (c.failure && !c.worker->alive()) return c.failure;
    // The candidate runs right after eager, so that this pair, the one that counts, is closest in time.
    if (c.kind == "eager") {
      if (c.failure) return c.failure;
      if (auto failure = burst(session.mine, runs, session.deadline_s)) return failure;
    }
  }
  return std::nullopt;
}

// Contenders that fail carry their failure; eager's and the candidate's end it all.
std::optional<Failure> run_session(Crew& crew, Session& session, const TimingRules& rules, int rounds,
                                   const std::string& exchange_file) {
  for (Contender& c : session.others) c.failure = begin(c, session.deadline_s);
  Contender& eager = session.others.front();
  if (eager.failure) return eager.failure;
  if (rounds == 0) {
    if (auto failure = rounds_by_pilot(eager, rules, session.deadline_s, rounds)) return failure;
  }
  if (auto failure = begin(session.mine, session.deadline_s)) return failure;
  // Outputs of a round that nobody knows beforehand are held against the reference, and those of the last one.
  std::random_device source;
  const int looked_at = std::uniform_int_distribution<int>(0, rounds - 1)(source);
  for (int round = 0; round < rounds + session.discarded; ++round) {
    std::vector<Contender*> ran = {&session.mine};
    if (auto failure = run_round(session, rules, ran)) return failure;
    if (auto failure = discard_if_slowed(ran, rounds, rules, session.discarded)) return failure;
    if (round != looked_at && round + 1 != rounds + session.discarded) continue;
    if (auto failure = check_timed_run(crew, session, exchange_file)) return failure;
  }
  return std::nullopt;
}

Session session_of(Crew& crew, Child& candidate, const Seeds& seeds, const std::vector<const char*>& kinds) {
  Session session;
  for (const char* kind : kinds)
    session.others.push_back(Contender{.worker = &crew.reference(), .kind = kind, .seed = seeds.timed});
  session.mine = Contender{.worker = &candidate, .kind = "plan", .seed = seeds.timed};
  session.deadline_s = crew.deadlines().time;
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

std::optional<Failure> time_candidate(Crew& crew, Child& candidate, const TimingRules& rules, const Seeds& seeds,
                                      const std::string& exchange_file, Verdict& verdict) {
  Session session = session_of(crew, candidate, seeds, {"eager", "graphed_eager", "null_plan"});
  if (auto failure = run_session(crew, session, rules, 0, exchange_file)) return failure;

  nlohmann::json clocks = nlohmann::json::object();
  std::string others_seen;
  if (auto failure = end(session, session.mine, verdict.candidate_peak_bytes, clocks, others_seen)) return failure;
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
    if (auto failure = end(session, c, timed.peak_bytes, clocks, others_seen)) return failure;
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
  if (session.unexamined > 0)
    verdict.warnings.emplace_back(
        "outputs of timed runs were compared with the reference's, and not with double precision: no memory was left");
  settle_speed(verdict);
  return hold_floor(floor_ms, uncharged, verdict);
}

std::optional<Failure> time_again(Crew& crew, Child& candidate, const TimingRules& rules, const Seeds& seeds,
                                  const std::string& exchange_file, Verdict& verdict) {
  Session session = session_of(crew, candidate, seeds, {"eager", "null_plan"});
  if (auto failure = run_session(crew, session, rules, rules.min_bursts, exchange_file)) return failure;
  std::int64_t peak_bytes = 0;
  nlohmann::json clocks;
  std::string others_seen;
  if (auto failure = end(session, session.mine, peak_bytes, clocks, others_seen)) return failure;
  charge(verdict, session.mine.bursts);
  // All of the session with the lower speed-up over eager counts, so that its figures fit together.
  std::map<std::string, Timed> again = verdict.baselines;
  bool holds = true;
  for (Contender& c : session.others) {
    if (c.failure) return c.failure;
    if (auto failure = end(session, c, peak_bytes, clocks, others_seen)) return failure;
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
