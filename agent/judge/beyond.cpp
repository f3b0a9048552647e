#include "agent/judge/beyond.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "agent/base/json_text.h"
#include "agent/base/sha256.h"
#include "agent/judge/code_rules.h"
#include "agent/judge/emulation.h"
#include "agent/judge/run_ahead.h"

namespace kagent {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr int kUndisturbed = 2;         // of one with each poison
constexpr int kRepeats = 6;             // the others beside a kernel that changes the order of blocks
constexpr int kRepeatsThatDiffer = 12;  // where the first ones do
constexpr int kDisturbed = 4;           // runs of a disturbed one, until its bits differ

const char* rule_of(const Draw& draw) {
  if (draw.inputs.starts_with("touched")) return "sensitivity";
  if (draw.weights != "as_built") return "redrawn_weights";
  return draw.inputs != "as_drawn" ? "structured_inputs" : "accuracy";
}

std::string name_of(const Draw& draw) { return fmt::format("weights {}, inputs {}", draw.weights, draw.inputs); }

// Examines a run. The entry's "vacuous" and "sensitive" say what could be told.
std::optional<Failure> examine(Crew& crew, const Child& candidate, const Draw& draw, const ChildReply& ran,
                               const std::string& file, nlohmann::json& entry) {
  entry["passed"] = false;
  entry["run_s"] = ran.elapsed_s;
  if (auto failure = failure_of(candidate, ran, "run")) {
    entry["run"] = {{"kind", failure->kind}, {"reason", failure->reason}};
    return failure;
  }
  const ChildReply examined = ask_examine(crew, draw, file);
  entry["examine_s"] = examined.elapsed_s;
  if (auto failure = failure_of(crew.reference(), examined, "internal")) {
    failure->stage = "internal";
    return failure;
  }
  for (const char* key :
       {"passed", "reason", "vacuous", "sensitive", "float32_like", "constants_pass", "held", "tensors"}) {
    if (examined.answer.contains(key)) entry[key] = examined.answer[key];
  }
  if (entry["passed"] == true) return std::nullopt;
  return Failure{"hidden",     "mismatch", text_or(entry, "reason", "less accurate than honest work"),
                 std::nullopt, "",         ""};
}

// Without the regimes that mean nothing for the task.
std::vector<Draw> applicable(const Crew& crew, const std::vector<Draw>& draws) {
  std::vector<Draw> out;
  for (Draw draw : draws) {
    if (!crew.has_regime(draw.weights)) {
      if (draw.inputs == "as_drawn") continue;
      draw.weights = "as_built";
    }
    out.push_back(draw);
  }
  return out;
}

struct Tally {
  int told = 0;
  int said_nothing = 0;
};

void record_passes(const std::map<std::string, Tally>& tallies, Verdict& verdict) {
  for (const auto& [rule, tally] : tallies) {
    const bool told = tally.told > 0;
    verdict.record(rule, told ? RuleOutcome::kPass : RuleOutcome::kNotRun,
                   told ? fmt::format("{} draws; {} more could not tell anything", tally.told, tally.said_nothing)
                        : "no draw could tell: the reference itself is not accurate enough in any of them",
                   nullptr);
  }
}

// The file of one more run of a call, its bits not seen before, in double precision.
std::optional<Failure> look_at_repeat(Crew& crew, const Draw& draw, const std::string& file, nlohmann::json& entry) {
  const ChildReply examined = ask_examine(crew, draw, file);
  if (auto failure = failure_of(crew.reference(), examined, "internal")) {
    failure->stage = "internal";
    return failure;
  }
  entry["passed"] = flag_or(examined.answer, "passed", false);
  if (entry["passed"] == true) return std::nullopt;
  const std::string reason = text_or(examined.answer, "reason", "less accurate than honest work");
  return Failure{"hidden", "mismatch", reason, std::nullopt, "", ""};
}

std::optional<Failure> repeat(Crew& crew, Child& candidate, Draw draw, const std::string& file, Verdict& verdict) {
  std::set<std::string> seen;  // digests of results that were looked at
  bool same = true;
  int runs = 0;
  for (; runs < (same ? kRepeats : kRepeatsThatDiffer); ++runs) {
    draw.poison = runs % 2 == 0 ? "huge" : "nan";
    nlohmann::json entry = entry_of(draw);
    nlohmann::json request = run_request(draw, file);
    request["disturbed"] = entry["disturbed"] = runs >= kUndisturbed;
    request["repeats"] = crew.emulates() ? 1 : kDisturbed;  // an emulated one is the same each time
    const ChildReply ran = candidate.ask(request, Seconds(crew.deadlines().run));
    std::optional<Failure> failure = failure_of(candidate, ran, "run");
    if (!failure) {
      const std::string digest = digest_of(file);
      if (digest.empty() || seen.insert(digest).second) failure = look_at_repeat(crew, draw, file, entry);
      same = same && !digest.empty() && seen.size() == 1;
    }
    if (!failure) continue;
    if (says_nothing(crew, *failure)) return failure;
    verdict.record("repeatable", RuleOutcome::kFail,
                   fmt::format("run {} of the same call is wrong: {}", runs + 1, failure->reason),
                   nlohmann::json::array({entry}));
    return hidden_failure();
  }
  verdict.record("repeatable", RuleOutcome::kPass,
                 same
                     ? fmt::format("{} runs, the same bit for bit", runs)
                     : fmt::format("{} runs, {} different results, each as accurate as honest work", runs, seen.size()),
                 {{"bitwise", same}, {"runs", runs}, {"different", seen.size()}});
  return std::nullopt;
}

}  // namespace

std::string digest_of(const std::string& exchange_file) {
  Result<std::string> digest = sha256_of_file(exchange_file);
  return digest ? digest.value() : "";
}

std::optional<Failure> check_beyond(Crew& crew, Child& candidate, const Seeds& seeds, const std::string& exchange_file,
                                    Verdict& verdict) {
  std::map<std::string, Tally> tallies;
  std::vector<std::string> sensitive;
  std::optional<bool> float32_like;  // of the draws that tell
  std::vector<std::string> constants;
  const std::vector<Draw> draws = applicable(crew, seeds.beyond);
  const auto look = [&](std::size_t i, const ChildReply& ran, const std::string& file) -> std::optional<Failure> {
    const Draw& draw = draws[i];
    nlohmann::json entry = entry_of(draw);
    const std::optional<Failure> failure = examine(crew, candidate, draw, ran, file, entry);
    verdict.beyond.push_back(entry);
    Tally& tally = tallies[rule_of(draw)];
    if (failure && says_nothing(crew, *failure)) return failure;
    if (failure) {
      record_passes(tallies, verdict);
      verdict.record(rule_of(draw), RuleOutcome::kFail, name_of(draw) + ": " + failure->reason, nullptr);
      return hidden_failure();
    }
    if (!draw.inputs.starts_with("touched") && !flag_or(entry, "vacuous", false))
      float32_like = float32_like.value_or(true) && flag_or(entry, "float32_like", false);
    if (draw.weights == "as_built" && draw.inputs == "as_drawn") {
      for (const auto& name : array_in(entry, "constants_pass"))
        constants.push_back(name.is_string() ? name.get<std::string>() : "");
    }
    ++(flag_or(entry, "vacuous", false) ? tally.said_nothing : tally.told);
    if (flag_or(entry, "sensitive", false)) sensitive.push_back(name_of(draw));
    return std::nullopt;
  };
  if (auto failure = run_ahead(crew, candidate, draws, exchange_file, look)) return failure;
  record_passes(tallies, verdict);
  if (!crew.has_regime("redrawn"))
    verdict.record("redrawn_weights", RuleOutcome::kNotRun, "the task has no weights to draw anew", nullptr);
  verdict.record(
      "input_sensitivity", sensitive.empty() ? RuleOutcome::kFlag : RuleOutcome::kPass,
      sensitive.empty()
          ? "in no draw could the output be told from zeros and from the best constant: this task shows little"
          : fmt::format("{} draws tell the output from zeros and from the best constant", sensitive.size()),
      {{"sensitive", sensitive}, {"official_check_takes", constants}});
  if (float32_like.value_or(false)) allow_splits(verdict);
  // Of either sign: of inputs above zero a race round a ReLU, say, gives the same bits whoever wins.
  Draw repeated = seeds.hidden.front();
  repeated.inputs = "rows";
  return repeat(crew, candidate, repeated, exchange_file, verdict);
}

}  // namespace kagent
