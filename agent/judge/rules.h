// The rules that the judge holds an answer to, each by name, and what one said of an answer: part of every verdict
// (docs/rules.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kagent {

enum class RuleOutcome {
  kPass,
  kFail,    // the answer is rejected
  kFlag,    // a reader should look; the answer is not rejected
  kNotRun,  // `what` says why
};

struct RuleResult {
  std::string rule;
  RuleOutcome outcome = RuleOutcome::kNotRun;
  std::string what;         // one sentence: for fail and flag what was seen
  nlohmann::json evidence;  // numbers and places; null: none
};

struct Rule {
  std::string_view id;
  int version;             // raised whenever the rule decides otherwise than before
  std::string_view holds;  // in words
  bool hidden;             // what it saw never goes back to the model
  bool needs_gpu;
};

// In the order in which the judge applies them.
const std::vector<Rule>& all_rules();
// Null: there is no such rule.
const Rule* find_rule(std::string_view id);

const char* to_string(RuleOutcome outcome);
// {"rule", "version", "outcome", "what", "evidence"}.
nlohmann::json to_json(const RuleResult& result);

}  // namespace kagent
