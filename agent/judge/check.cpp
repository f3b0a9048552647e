#include "agent/judge/check.h"

#include "agent/base/json_text.h"
#include "agent/judge/emulation.h"
#include "agent/judge/run_ahead.h"

namespace kagent {
namespace {

using Seconds = std::chrono::duration<double>;

// What comparisons say of state and of inputs that were written to, by rule.
void record_state(const nlohmann::json& comparisons, Verdict& verdict) {
  nlohmann::json state;
  nlohmann::json inputs;
  for (const auto& comparison : comparisons) {
    for (const auto& item : array_in(comparison, "state")) {
      const std::string name = text_or(item, "name", "");
      if (flag_or(item, "passed", true)) continue;
      const bool read_only = name.starts_with("input ") || name.starts_with("parameter ");
      nlohmann::json& seen = read_only ? inputs : state;
      if (seen.is_null()) seen = {{"name", name}, {"reason", text_or(item, "reason", "")}};
    }
    const std::string reason = text_or(comparison, "reason", "");
    if (reason.starts_with("the call writes to ")) inputs = {{"reason", reason}};
    if (reason.starts_with("the call leaves ")) state = {{"reason", reason}};
  }
  const auto settle = [&](const char* rule, const nlohmann::json& seen, const char* wrong, const char* right) {
    verdict.record(rule, seen.is_null() ? RuleOutcome::kPass : RuleOutcome::kFail, seen.is_null() ? right : wrong,
                   seen);
  };
  settle("state", state, "state after the call differs from the reference's",
         "equal to the reference's after each call");
  settle("inputs_unchanged", inputs, "the call writes to an input or a parameter",
         "inputs and parameters kept their bits");
}

}  // namespace

nlohmann::json run_request(const Draw& draw, const std::string& file) {
  nlohmann::json request = entry_of(draw);
  request["cmd"] = "run";
  request["out"] = file;
  return request;
}

nlohmann::json entry_of(const Draw& draw) {
  return {{"seed", draw.seed},     {"scale", draw.scale},   {"calls", draw.calls},      {"weights", draw.weights},
          {"inputs", draw.inputs}, {"poison", draw.poison}, {"drawn_on", draw.drawn_on}};
}

ChildReply ask_compare(Crew& crew, const Draw& draw, const std::string& exchange_file, bool outputs_only) {
  return crew.reference().ask({{"cmd", "compare"},
                               {"seed", draw.seed},
                               {"scale", draw.scale},
                               {"calls", draw.calls},
                               {"inputs", draw.inputs},
                               {"drawn_on", draw.drawn_on},
                               {"file", exchange_file},
                               {"tolerance", kTolerance},
                               {"flags", "official"},
                               {"outputs_only", outputs_only}},
                              Seconds(crew.deadlines().compare));
}

ChildReply ask_examine(Crew& crew, const Draw& draw, const std::string& exchange_file, bool outputs_only) {
  nlohmann::json request = entry_of(draw);
  request["cmd"] = "examine";
  request["file"] = exchange_file;
  request["outputs_only"] = outputs_only;
  return crew.reference().ask(request, Seconds(crew.deadlines().compare));
}

bool surely_accurate(const ChildReply& examined) {
  return examined.ok() && flag_or(examined.answer, "passed", false) && !flag_or(examined.answer, "vacuous", false);
}

std::optional<Failure> compare_file(Crew& crew, const Draw& draw, const std::string& stage,
                                    const std::string& exchange_file, nlohmann::json& entry) {
  entry["passed"] = false;
  const ChildReply compared = ask_compare(crew, draw, exchange_file);
  entry["compare_s"] = compared.elapsed_s;
  if (auto failure = failure_of(crew.reference(), compared, "internal")) {
    failure->stage = "internal";
    return failure;
  }
  for (const char* key : {"passed", "reason", "outputs", "state", "bitwise"}) {
    if (compared.answer.contains(key)) entry[key] = compared.answer[key];
  }
  if (flag_or(compared.answer, "passed", false)) return std::nullopt;
  return Failure{stage, "mismatch", text_or(compared.answer, "reason", "outputs differ"), std::nullopt, "", ""};
}

namespace {

// The CPU that emulates rounds and sums in another order than a GPU, and so does its reference: what is off by more
// than the tolerance there, and yet as accurate as honest work, may be right on a GPU.
bool only_rounding(Crew& crew, const Draw& draw, const std::string& exchange_file) {
  if (draw.calls != 1) return false;  // the double-precision rules look at one call
  return surely_accurate(ask_examine(crew, draw, exchange_file));
}

// What the run left, against the reference. Appends the comparison to `record`.
std::optional<Failure> check_run(Crew& crew, const Child& candidate, const Draw& draw, const ChildReply& ran,
                                 const std::string& stage, const std::string& exchange_file, nlohmann::json& record) {
  nlohmann::json entry = entry_of(draw);
  entry["passed"] = false;
  entry["run_s"] = ran.elapsed_s;
  std::optional<Failure> failure = failure_of(candidate, ran, "run");
  if (failure) {
    entry["run"] = {{"kind", failure->kind}, {"reason", failure->reason}};
  } else {
    failure = compare_file(crew, draw, stage, exchange_file, entry);
    if (failure && failure->stage == "internal") return failure;
    if (failure && crew.emulates() && only_rounding(crew, draw, exchange_file)) {
      failure->kind = "only_rounding";
      failure->reason =
          "on the CPU the results differ from the reference's by more than the tolerance and are as accurate as honest "
          "work: only a GPU can tell";
    }
  }
  record.push_back(entry);
  return failure;
}

std::optional<Failure> check_draws(Crew& crew, Child& candidate, const std::vector<Draw>& draws,
                                   const std::string& stage, const std::string& exchange_file, nlohmann::json& record) {
  return run_ahead(crew, candidate, draws, exchange_file,
                   [&](std::size_t i, const ChildReply& ran, const std::string& file) {
                     return check_run(crew, candidate, draws[i], ran, stage, file, record);
                   });
}

}  // namespace

std::optional<Failure> check_draw(Crew& crew, Child& candidate, const Draw& draw, const std::string& stage,
                                  const std::string& exchange_file, nlohmann::json& record) {
  const ChildReply ran = candidate.ask(run_request(draw, exchange_file), Seconds(crew.deadlines().run));
  return check_run(crew, candidate, draw, ran, stage, exchange_file, record);
}

std::optional<Failure> check_visible(Crew& crew, Child& candidate, const Seeds& seeds, const std::string& exchange_file,
                                     Verdict& verdict) {
  auto failure = check_draws(crew, candidate, seeds.visible, "visible", exchange_file, verdict.visible);
  if (failure) record_state(verdict.visible, verdict);
  return failure;
}

std::optional<Failure> check_hidden(Crew& crew, Child& candidate, const Seeds& seeds, const std::string& exchange_file,
                                    Verdict& verdict) {
  const auto failure = check_draws(crew, candidate, seeds.hidden, "hidden", exchange_file, verdict.hidden);
  if (failure && says_nothing(crew, *failure)) return failure;
  nlohmann::json both = verdict.visible;
  both.insert(both.end(), verdict.hidden.begin(), verdict.hidden.end());
  record_state(both, verdict);
  verdict.record("official_check", failure ? RuleOutcome::kFail : RuleOutcome::kPass,
                 failure ? failure->reason : "all four distributions, and two calls in a row", nullptr);
  return failure ? std::optional(hidden_failure()) : std::nullopt;
}

Failure hidden_failure() { return {"hidden", "hidden_check_failed", "hidden check failed", std::nullopt, "", ""}; }

}  // namespace kagent
