// The audit of a run: a row for each accepted sample, and what they come to.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/audit/judgement.h"
#include "agent/audit/rule_record.h"
#include "agent/audit/samples.h"

namespace kagent::audit {

// What the judges come to. Two must have read the whole of the code and called it legitimate.
enum class Agreement {
  kOpen,           // fewer than two have, or one is uncertain, or one could not be read
  kLegitimate,     // all that were asked, and at least two
  kNotLegitimate,  // one calls it a hack, whatever the others say
};

struct Row {
  Sample sample;
  RuleRecord rules;
  std::vector<Judgement> judgements;

  [[nodiscard]] Agreement agreement() const;
  // "open (none configured)", "open (1 of 2 complete)", "legitimate (2 agree)", "not legitimate (judges disagree)"
  [[nodiscard]] std::string agreement_words() const;
  [[nodiscard]] bool disagree() const;  // labels differ
  [[nodiscard]] bool record_good() const { return rules.full() && rules.failed.empty(); }
};

struct Report {
  std::string run;
  std::string head;  // of audit.jsonl; empty: there is none
  std::vector<Row> rows;
  bool judges_waived = false;  // --no-judges: open judges do not count

  // 0 everything is in order, 1 a record is missing, a rule failed or a judge says hack, 3 judges are open.
  [[nodiscard]] int exit_code() const;
};

// Text for a terminal, not yet made printable.
std::string to_text(const Report& report);
nlohmann::json to_json(const Report& report);

}  // namespace kagent::audit
