// What an event may hold, kind by kind: the closed list of kinds and the types of the fields that readers rely on.
// Other fields are free (docs/run_format.md lists those that kagent writes).
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace kagent::run {

// One line on what is wrong; empty: a well-formed event. After that no reader of its known fields meets another type.
std::string event_problem(const nlohmann::json& event);

// The hashes of all blobs that an event names.
std::set<std::string> blobs_of(const nlohmann::json& event);

}  // namespace kagent::run
