// What a replay found, for programs and for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "agent/replay/replay.h"

namespace kagent::replay {

enum class Verdicts { kShort, kWhole };

// docs/replay.md. kWhole: with the verdicts as they are; kShort: their outcome, stage, kind and speed-up.
nlohmann::json to_json(const Replay& replay, const run::RunDirectory& run, Verdicts verdicts);

// A line a sample and what differs below it, the machines if they are not the same, and the counts. Every line is
// printable as it is, whatever the log holds.
std::string to_text(const Replay& replay, const run::RunDirectory& run);

}  // namespace kagent::replay
