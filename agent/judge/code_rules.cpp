#include "agent/judge/code_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/base/json_text.h"

namespace kagent {
namespace {

using nlohmann::json;

// The lint's words for what it looks for, by the verdict's rule.
const std::map<std::string, std::string>& rule_of_finding() {
  static const std::map<std::string, std::string> kRules = {
      {"module_state", "module_state"},
      {"module_global_present", "module_state"},
      {"leftovers", "module_state"},
      {"extern_call", "extern_call"},
      {"timer", "timer"},
      {"timer_reaches_store", "timer"},
      {"special_register", "special_register"},
      {"cache_policy", "cache_policy"},
      {"pdl", "launch_overlap"},
      {"trap", "trap"},
      {"precision", "precision_tier"},
      {"nanosleep", "trap"},
      {"workspace_reaches_store", "special_register"},
  };
  return kRules;
}

// Also for findings that this version does not know.
constexpr const char* kReadable = "readable_code";

const std::vector<std::string> kCodeRules = {kReadable,          "module_state", "extern_call",    "timer",
                                             "special_register", "cache_policy", "launch_overlap", "trap"};

// Narrower than float32: what the default tier does not allow.
const std::set<std::string> kNarrow = {"fp16", "bf16", "fp8", "int8", "float16", "bfloat16", "int4"};

std::string text(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

RuleOutcome outcome_of(const json& finding) {
  const std::string level = text(finding, "level");
  return level == "reject" ? RuleOutcome::kFail : level == "flag" ? RuleOutcome::kFlag : RuleOutcome::kPass;
}

// What the kernels compute with.
std::set<std::string> narrow_arithmetic(const json& lint) {
  std::set<std::string> out;
  for (const auto& word : array_in(lint, "arithmetic")) {
    if (word.is_string() && kNarrow.count(word.get<std::string>()) != 0) out.insert(word.get<std::string>());
  }
  return out;
}

// What the plan's tensors are made of.
std::set<std::string> narrow_tensors(const std::string& plan) {
  std::set<std::string> out;
  const Result<json> read = parse_json(plan);
  const json parsed = read ? read.value() : json();
  if (!parsed.is_object()) return out;
  for (const auto& tensor : array_in(parsed, "tensors")) {
    if (tensor.is_object() && kNarrow.count(text(tensor, "dtype")) != 0) out.insert(text(tensor, "dtype"));
  }
  return out;
}

}  // namespace

std::optional<Failure> check_code(const json& lint, const std::string& plan, Verdict& verdict) {
  if (!lint.is_object()) {
    for (const std::string& rule : kCodeRules) verdict.record(rule, RuleOutcome::kNotRun, "no PTX to look at", nullptr);
    return std::nullopt;
  }
  std::map<std::string, RuleResult> worst;
  for (const std::string& rule : kCodeRules) worst[rule] = {rule, RuleOutcome::kPass, "nothing found", nullptr};
  std::optional<Failure> failure;
  for (const auto& finding : array_in(lint, "findings")) {
    if (!finding.is_object()) continue;
    const auto known = rule_of_finding().find(text(finding, "rule"));
    const std::string rule = known == rule_of_finding().end() ? kReadable : known->second;
    if (rule == "precision_tier") continue;
    const RuleOutcome outcome = outcome_of(finding);
    RuleResult& result = worst[rule];
    if (result.evidence.is_null()) result.evidence = json::array();
    result.evidence.push_back(finding);
    const bool worse = (outcome == RuleOutcome::kFail && result.outcome != RuleOutcome::kFail) ||
                       (outcome == RuleOutcome::kFlag && result.outcome == RuleOutcome::kPass);
    if (worse) {
      result.outcome = outcome;
      result.what = text(finding, "what");
    }
    if (outcome == RuleOutcome::kFail && !failure) {
      std::optional<int> line;
      if (finding.contains("line") && finding["line"].is_number_integer()) line = finding["line"].get<int>();
      failure = Failure{"rules", rule, text(finding, "what"), line, "cuda", ""};
    }
  }
  for (const std::string& rule : kCodeRules)
    verdict.record(rule, worst[rule].outcome, worst[rule].what, worst[rule].evidence);

  const std::set<std::string> tensors = narrow_tensors(plan);
  std::set<std::string> narrow = narrow_arithmetic(lint);
  narrow.insert(tensors.begin(), tensors.end());
  verdict.plan["tier"] = narrow.empty() ? "tf32" : "any";
  verdict.record("precision_tier", narrow.empty() ? RuleOutcome::kPass : RuleOutcome::kFlag,
                 narrow.empty()
                     ? "fp32 storage, fp32 or TF32 arithmetic"
                     : fmt::format("uses {}: tier any, does not count in the default tier", fmt::join(narrow, ", ")),
                 {{"arithmetic", array_in(lint, "arithmetic")}, {"narrow_tensors", tensors}});
  return failure;
}

void allow_splits(Verdict& verdict) {
  for (const RuleResult& r : verdict.rules) {
    if (r.rule != "precision_tier" || r.outcome != RuleOutcome::kFlag || !r.evidence["narrow_tensors"].empty())
      continue;
    verdict.plan["tier"] = "tf32";
    verdict.record("precision_tier", RuleOutcome::kPass,
                   "narrow arithmetic, but as accurate as float32 in every draw: split numbers", json(r.evidence));
    return;
  }
}

}  // namespace kagent
