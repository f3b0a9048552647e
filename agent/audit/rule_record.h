// What a verdict records of the rules that its kernel was held to: its array `rules` (docs/verdict.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kagent::audit {

// Names of rules by what became of them. A rule that stands there twice counts with its worst outcome.
struct RuleRecord {
  bool there = false;  // the verdict has an array `rules`
  std::vector<std::string> passed;
  std::vector<std::string> flagged;
  std::vector<std::string> not_run;
  std::vector<std::string> failed;
  std::vector<std::string> missing;   // required, and absent
  std::vector<std::string> older;     // required, and decided by an earlier version of the rule: "accuracy 2 (now 3)"
  std::vector<std::string> problems;  // entries that are no record of a rule; one line each

  // Every required rule is there in today's version, and what is there can be read.
  [[nodiscard]] bool full() const { return there && missing.empty() && older.empty() && problems.empty(); }
};

RuleRecord rule_record(const nlohmann::json& verdict);

}  // namespace kagent::audit
