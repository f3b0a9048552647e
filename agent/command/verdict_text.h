// A verdict for a person: a few lines of text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kagent {

// `verdict` is the JSON of docs/verdict.md. Never throws on a malformed one: missing parts are left out.
std::string verdict_text(const nlohmann::json& verdict);

}  // namespace kagent
