// Runs a list of draws in order: while the reference worker looks at what one run left, the candidate worker runs the
// next. The two are separate processes; for every draw the candidate's file is there before the reference runs it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/judge/crew.h"
#include "agent/judge/draws.h"

namespace kagent {

// Looks at run `i`: what the candidate answered and, if that is ok, the file it wrote. A Failure ends the runs.
using LookAtRun = std::function<std::optional<Failure>(std::size_t i, const ChildReply& ran, const std::string& file)>;

// `exchange_file` is written to, and a second file beside it. The candidate's worker is ended when a run fails while it
// is busy with the next.
std::optional<Failure> run_ahead(Crew& crew, Child& candidate, const std::vector<Draw>& draws,
                                 const std::string& exchange_file, const LookAtRun& look);

}  // namespace kagent
