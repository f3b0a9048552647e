// A launch plan as a readable list.
#pragma once

#include <string>
#include <string_view>

namespace kagent {

// `plan` is the JSON text of docs/plan.md. Text that is no plan is said to be none; never throws.
std::string plan_listing(std::string_view plan);

}  // namespace kagent
