// The null plan: the reference traced as an answer's host program is, and run by the same executor.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "agent/judge/crew.h"

namespace kagent {

// Traces it and loads it in the reference worker, under the timed baseline's precision (TF32). The tracer has the task.
// A Failure of stage "internal": there is no null plan; where the reference worker has died, too.
std::optional<Failure> load_null_plan(Child& tracer, Child& reference, const nlohmann::json& device, bool graph,
                                      const Deadlines& deadlines);

}  // namespace kagent
