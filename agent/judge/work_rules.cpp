#include "agent/judge/work_rules.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <tuple>
#include <vector>

#include "agent/base/json_text.h"
#include "agent/judge/beyond.h"
#include "agent/judge/emulation.h"

namespace kagent {
namespace {

using Seconds = std::chrono::duration<double>;
using nlohmann::json;
constexpr std::size_t kMostKernels = 24;  // by name; an answer has a handful
constexpr double kLittleShare = 0.05;
constexpr const char* kAllKernels = "*";
constexpr int kGuardRounds = 4;  // where the first shows a difference

Failure broken(const std::string& rule, const std::string& what, std::optional<int> line = std::nullopt) {
  return Failure{"rules", rule, what, line, line ? "python" : "", ""};
}

// What a kernel left unwritten may not be what an earlier run wrote there.
Draw poisoned(Draw draw) {
  draw.poison = "nan";
  return draw;
}

bool repeats_bitwise(const Verdict& verdict) {
  for (const RuleResult& r : verdict.rules) {
    if (r.rule == "repeatable" && r.evidence.is_object()) return flag_or(r.evidence, "bitwise", true);
  }
  return true;
}

std::optional<Failure> run_between_guards(Crew& crew, Child& candidate, const Draw& draw, const char* fill,
                                          const std::string& file, Verdict& verdict) {
  json request = run_request(draw, file);
  request["guards"] = fill;
  const ChildReply ran = candidate.ask(request, Seconds(crew.deadlines().run));
  auto failure = failure_of(candidate, ran, "run");
  if (!failure || says_nothing(crew, *failure)) return failure;
  verdict.record("guard_regions", RuleOutcome::kFail, failure->reason, nullptr);
  return broken("guard_regions", failure->reason, failure->line);
}

std::optional<Failure> check_guards(Crew& crew, Child& candidate, const Seeds& seeds, const std::string& file,
                                    Verdict& verdict) {
  const Draw& draw = seeds.visible.front();
  if (auto failure = run_between_guards(crew, candidate, draw, "large", file, verdict)) return failure;
  json entry = entry_of(draw);
  if (auto failure = compare_file(crew, draw, "rules", file, entry)) {
    if (failure->stage == "internal") return failure;
    const char* what = "the result is wrong when tensors lie elsewhere in memory: something outside them is read";
    verdict.record("guard_regions", RuleOutcome::kFail, what, entry);
    return broken("guard_regions", what);
  }
  // Bit for bit means something only for an answer that repeats itself bit for bit. Other weights and inputs of either
  // sign: a number that is read and then hidden by a larger one shows somewhere.
  bool exact = repeats_bitwise(verdict);
  std::array<std::set<std::string>, 2> digests;  // of runs between large and between small numbers
  for (int round = 0; exact && round < kGuardRounds; ++round) {
    for (const std::size_t i : {0, 1}) {
      if (auto failure = run_between_guards(crew, candidate, poisoned(seeds.beyond.at(1)), i == 0 ? "large" : "small",
                                            file, verdict))
        return failure;
      digests[i].insert(digest_of(file));
    }
    if (round == 0 && digests[0] == digests[1]) break;
    // It may be the order of its additions: guilty is who repeats itself between equal guards.
    exact = digests[0].size() == 1 && digests[1].size() == 1;
  }
  if (exact && digests[0] != digests[1]) {
    const char* what =
        "the result depends on what lies beside a tensor in memory: a kernel reads past its end or before its start";
    verdict.record("guard_regions", RuleOutcome::kFail, what, nullptr);
    return broken("guard_regions", what);
  }
  verdict.record("guard_regions", RuleOutcome::kPass,
                 exact ? "64 KiB on each side of each tensor kept their pattern, and two patterns gave the same bits"
                       : "64 KiB on each side of each tensor kept their pattern; the answer does not repeat itself bit "
                         "for bit, so that two patterns were not compared",
                 {{"compared_bit_for_bit", exact}});
  return std::nullopt;
}

// Whether a run with something in place of a kernel's launches gives what the plain run gave.
enum class Replay { kSame, kDiffers, kNothingToReplace, kMachine };

struct Plain {
  Draw draw;
  std::string digest;
  bool bitwise;  // the answer repeats itself bit for bit
};

Replay replay(Crew& crew, Child& candidate, const Plain& plain, const std::string& kernel, const char* stand_in,
              const std::string& file) {
  json request = run_request(plain.draw, file);
  request["kernel"] = kernel;
  request["stand_in"] = stand_in;
  const bool all = kernel == kAllKernels;
  const ChildReply ran = candidate.ask(request, Seconds(crew.deadlines().run));
  if (auto failure = failure_of(candidate, ran, "run")) return candidate.alive() ? Replay::kDiffers : Replay::kMachine;
  if (integer_or(ran.answer, "replaced", 0) == 0) return Replay::kNothingToReplace;
  if (plain.bitwise && !plain.digest.empty()) {
    if (digest_of(file) == plain.digest) return Replay::kSame;
    if (!all) return Replay::kDiffers;
  }
  const ChildReply examined = ask_examine(crew, plain.draw, file);
  if (failure_of(crew.reference(), examined, "internal")) return Replay::kMachine;
  return surely_accurate(examined) ? Replay::kSame : Replay::kDiffers;
}

// All kernels at once: those that undo each other, or that move a result by an ulp, do no work either.
std::optional<Failure> check_together(Crew& crew, Child& candidate, const Plain& plain, const std::string& file,
                                      Verdict& verdict) {
  for (const auto& [stand_in, rule, what] :
       {std::tuple{"nothing", "ghost", "without any of the answer's kernels the result is the same, or as accurate"},
        std::tuple{"copy", "bypass",
                   "with copies in place of all of the answer's kernels the result is the same, or as accurate"}}) {
    const Replay seen = replay(crew, candidate, plain, kAllKernels, stand_in, file);
    if (seen == Replay::kMachine)
      return Failure{"internal", "worker", "a run without the answer's kernels ended a worker", std::nullopt, "", ""};
    if (seen != Replay::kSame) continue;
    verdict.record(rule, RuleOutcome::kFail, what, nullptr);
    return broken(rule, what);
  }
  return std::nullopt;
}

std::optional<Failure> check_replays(Crew& crew, Child& candidate, const Built& built, const Seeds& seeds,
                                     const std::string& file, Verdict& verdict) {
  // Weights that are neither 0 nor 1: a kernel that scales by a fresh gamma does nothing otherwise.
  Plain plain{poisoned(seeds.beyond.at(1)), "", repeats_bitwise(verdict)};
  const ChildReply ran = candidate.ask(run_request(plain.draw, file), Seconds(crew.deadlines().run));
  if (auto failure = failure_of(candidate, ran, "run")) return failure;
  plain.digest = digest_of(file);
  if (auto failure = check_together(crew, candidate, plain, file, verdict)) return failure;

  std::vector<std::string> ghosts;
  std::vector<std::string> copies;
  std::size_t looked_at = 0;
  for (const auto& name : built.names) {
    if (!name.is_string() || looked_at == kMostKernels) continue;
    const std::string kernel = name.get<std::string>();
    const Replay without = replay(crew, candidate, plain, kernel, "nothing", file);
    if (without == Replay::kMachine)
      return Failure{"internal", "worker", "a run without " + kernel + " ended the worker", std::nullopt, "", ""};
    if (without == Replay::kNothingToReplace) continue;  // launched in prepare only
    ++looked_at;
    if (without == Replay::kSame) {
      ghosts.push_back(kernel);
    } else if (replay(crew, candidate, plain, kernel, "copy", file) == Replay::kSame) {
      copies.push_back(kernel);
    }
  }
  const auto settle = [&](const char* rule, const std::vector<std::string>& found, const char* says) {
    verdict.record(rule, found.empty() ? RuleOutcome::kPass : RuleOutcome::kFlag,
                   found.empty() ? fmt::format("{} kernels looked at", looked_at)
                                 : fmt::format("{}: {}", fmt::join(found, ", "), says),
                   found);
  };
  settle("ghost", ghosts, "the result is the same without its launches");
  settle("bypass", copies, "the result is the same with a copy of an argument in its place");
  if (ghosts.size() + copies.size() < looked_at) return std::nullopt;
  const char* rule = ghosts.empty() ? "bypass" : "ghost";
  const std::string what =
      "no kernel of the answer does any work: without its launches, or with a copy in their place, the result is the "
      "same";
  verdict.record(rule, RuleOutcome::kFail, what, ghosts.empty() ? copies : ghosts);
  return broken(rule, what);
}

std::optional<Failure> check_prepare(Crew& crew, Child& candidate, Verdict& verdict) {
  if (integer_or(verdict.plan, "prepare_steps", 0) == 0) {
    verdict.record("prepare_cost", RuleOutcome::kPass, "there is no prepare", nullptr);
    return std::nullopt;
  }
  const ChildReply proof = candidate.ask({{"cmd", "prepare_moves"}}, Seconds(crew.deadlines().run));
  if (auto failure = failure_of(candidate, proof, "run")) return failure;
  const bool free = flag_or(proof.answer, "moves_only", false);
  const double ms = number_or(proof.answer, "prepare_ms", 0.0);
  verdict.plan["prepare_charged_ms"] = free ? 0.0 : ms;
  verdict.record("prepare_cost", free ? RuleOutcome::kPass : RuleOutcome::kFlag,
                 free
                     ? "prepare only moves weights: it is free"
                     : fmt::format("{}; its {:.3g} ms are charged to every call", text_or(proof.answer, "why", ""), ms),
                 {{"words", integer_or(proof.answer, "words", 0)}, {"prepare_ms", ms}});
  return std::nullopt;
}

}  // namespace

std::optional<Failure> check_work(Crew& crew, Child& candidate, const Built& built, const Seeds& seeds,
                                  const std::string& exchange_file, Verdict& verdict) {
  if (auto failure = check_guards(crew, candidate, seeds, exchange_file, verdict)) return failure;
  if (auto failure = check_replays(crew, candidate, built, seeds, exchange_file, verdict)) return failure;
  return check_prepare(crew, candidate, verdict);
}

void record_custom_share(Verdict& verdict) {
  const auto plan = verdict.profile.find("plan");
  if (plan == verdict.profile.end()) return;
  double own_ms = 0;
  double all_ms = 0;
  for (const auto& kernel : plan->value("kernels", json::array())) {
    const double ms = number_or(kernel, "ms", 0.0);
    all_ms += ms;
    const bool launched_by_plan = kernel.contains("step") && kernel["step"].is_number_integer();
    if (launched_by_plan && (!kernel.contains("op") || kernel["op"].is_null())) own_ms += ms;
  }
  const double share = all_ms > 0 ? own_ms / all_ms : 0;
  verdict.plan["custom_share"] = share;
  verdict.record("custom_share", share < kLittleShare ? RuleOutcome::kFlag : RuleOutcome::kPass,
                 fmt::format("{:.1f}% of the GPU time is the answer's own kernels'", 100 * share), {{"share", share}});
}

}  // namespace kagent
