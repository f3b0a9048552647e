// Stable words for what scores are about, and figures as text.
#pragma once

#include <optional>
#include <string>

#include "agent/score/bootstrap.h"
#include "agent/score/sample.h"
#include "agent/score/share.h"

namespace kagent::score {

const char* to_string(State state);  // accepted, emulated, rejected, undecided, unjudged, waiting, not asked
const char* to_string(Tier tier);    // tf32, any, unknown
const char* to_string(Track track);  // pure, library, unknown

std::string words_of(const Share& share);             // "2 of 3 = 66.7% [20.8%, 93.9%]"
std::string words_of(const Estimate& estimate);       // "1.234x [1.1, 1.4] over 3 tasks"; "not known"
std::string times_words(double ratio);                // "13.1x"
std::string interval_words(const Speedup& speedup);   // "12.2 to 14"; "" where it has none
std::string percent_words(const Estimate& estimate);  // "66.7% [20.8%, 93.9%]"
std::string percent(double share);                    // "66.7%"
std::string threshold_words(double p);                // "0.5", "1", "32"

}  // namespace kagent::score
