// Rules about the code: what the lint of the compiled PTX found (docs/lint.md), and the precision tier.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "agent/judge/verdict.h"

namespace kagent {

// `lint` is the compiler's report (docs/protocol.md), `plan` the plan's text. Records every code rule and sets
// verdict.plan["tier"]. A Failure when a rule is broken: of stage "rules", its kind the rule.
std::optional<Failure> check_code(const nlohmann::json& lint, const std::string& plan, Verdict& verdict);

// Narrow arithmetic whose results were as accurate as float32 in every draw: numbers split into narrow parts (bf16x3).
// The tier is tf32 then, unless the plan holds narrow tensors.
void allow_splits(Verdict& verdict);

}  // namespace kagent
