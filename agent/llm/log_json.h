// Replies and attempts as a run's log keeps them (docs/run_format.md).
#pragma once

#include <nlohmann/json.hpp>

#include "agent/llm/provider.h"

namespace kagent::llm {

// All of a reply but its text.
nlohmann::json to_json(const Reply& reply);
nlohmann::json to_json(const Attempt& attempt);

}  // namespace kagent::llm
