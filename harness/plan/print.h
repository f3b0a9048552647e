// A plan as canonical JSON: parse(to_json(p)) is p.
#pragma once

#include <string>

#include "harness/plan/plan.h"

namespace kagent::plan {

std::string to_json(const Plan& plan);

}  // namespace kagent::plan
