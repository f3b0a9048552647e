// What a reader of the scores must know: one line each, most important first.
#pragma once

#include <string>
#include <vector>

#include "agent/score/scores.h"

namespace kagent::score {

std::vector<std::string> notes_of(const Run& run, const Scores& scores);

}  // namespace kagent::score
