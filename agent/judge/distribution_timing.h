// Rule distribution_timing: an answer that looks at its data and has a shorter way for what it is timed on is slower on
// other data. Its times under the official scales of the inputs and under redrawn weights, against its time on the
// inputs that the verdict's time is of.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "agent/judge/crew.h"
#include "agent/judge/draws.h"
#include "agent/judge/verdict.h"

namespace kagent {

using TimesMs = std::map<std::string, double>;  // by distribution: x1 (what is timed), x3, x0.01, x-1, redrawn

// The distribution whose time is furthest above x1's: by more than a fifth, by more than 10 us, and by a fifth more
// than eager's own time grows. Noise of medians and clocks that follow the data stay below (docs/rules.md). "": none.
// `eager` may be empty: not measured.
std::string slower_distribution(const TimesMs& candidate, const TimesMs& eager);
// The same for one that is as much faster than x1.
std::string faster_distribution(const TimesMs& candidate, const TimesMs& eager);

// Records the rule; slower elsewhere: verdict.faster becomes false. Measures a second time before it says so. A failure
// is the candidate's or internal.
std::optional<Failure> time_distributions(Crew& crew, Child& candidate, const Seeds& seeds, Verdict& verdict);

}  // namespace kagent
