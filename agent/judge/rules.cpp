#include "agent/judge/rules.h"

#include <algorithm>

namespace kagent {

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> kRules = {
      {"readable_code", 1, "the lint can read all of the PTX", false, false},
      {"module_state", 2,
       "no kernel writes to memory that lasts from launch to launch (module globals), or reads local memory before it "
       "has written to it",
       false, false},
      {"extern_call", 1, "no kernel calls what is not in the answer: printf, malloc, device-side launches", false,
       false},
      {"timer", 1, "no clock value reaches a result", false, false},
      {"special_register", 1, "only special registers that say where a thread is", false, false},
      {"cache_policy", 1, "no hint that keeps data in the cache from call to call", false, false},
      {"launch_overlap", 1, "no kernel lets a later one start before it ends", false, false},
      {"trap", 1, "no kernel stops or sleeps on purpose", false, false},
      {"precision_tier", 1, "fp32 storage, fp32 or TF32 arithmetic: tier tf32; anything narrower: tier any", false,
       false},
      {"official_check", 1, "outputs within 1e-3 of the reference for inputs x1, x3, x0.01 and x(-1)", true, false},
      {"state", 2, "buffers and other state equal the reference's after the same calls", true, false},
      {"inputs_unchanged", 2, "inputs and parameters are left as they were", false, false},
      {"repeatable", 3, "the same call gives the same result, whatever memory held before", true, false},
      {"accuracy", 3, "no less accurate against double precision than honest float32 or TF32 work", true, false},
      {"redrawn_weights", 3, "the same under other weights, prepare run again", true, false},
      {"structured_inputs", 4, "the same for inputs with structure: rows, suffixes, ramps, outliers, offsets", true,
       false},
      {"sensitivity", 2, "one changed element of inputs and weights moves the result as it moves the reference's", true,
       false},
      {"input_sensitivity", 2, "the checks can tell this task's outputs from zeros and from the best constant", false,
       false},
      {"guard_regions", 2, "nothing is written outside a tensor, and nothing read there reaches the result", false,
       false},
      {"ghost", 2, "leaving out a kernel's launches changes the result", false, false},
      {"bypass", 2, "a copy in place of a kernel's launches changes the result", false, false},
      {"prepare_cost", 2, "prepare only moves weights, or its time is charged to every call", false, false},
      {"null_plan", 2, "faster than the reference run by the same executor", false, true},
      {"floor", 1, "no faster than the memory that a call must read and write allows", false, true},
      {"distribution_timing", 2, "as fast for other inputs and weights as for those that it is timed on", false, true},
      {"custom_share", 1, "how much of the GPU time is the answer's own kernels'", false, true},
  };
  return kRules;
}

const Rule* find_rule(std::string_view id) {
  const auto& rules = all_rules();
  const auto at = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.id == id; });
  return at == rules.end() ? nullptr : &*at;
}

const char* to_string(RuleOutcome outcome) {
  switch (outcome) {
    case RuleOutcome::kPass:
      return "pass";
    case RuleOutcome::kFail:
      return "fail";
    case RuleOutcome::kFlag:
      return "flag";
    case RuleOutcome::kNotRun:
      return "not_run";
  }
  return "not_run";
}

nlohmann::json to_json(const RuleResult& result) {
  const Rule* rule = find_rule(result.rule);
  return {{"rule", result.rule},
          {"version", rule == nullptr ? 0 : rule->version},
          {"outcome", to_string(result.outcome)},
          {"what", result.what},
          {"evidence", result.evidence}};
}

}  // namespace kagent
