// The baselines of one task as a table.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kagent {

// `entry`: docs/baselines.md. Times, speed-up over eager, peak memory, and the official check.
std::string baselines_text(const nlohmann::json& entry);

// "passes", "fails", or "" where nobody knows: of a baseline in an entry or in a verdict.
std::string official_words(const nlohmann::json& baseline);

}  // namespace kagent
