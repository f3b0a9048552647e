// Candidate and baselines timed against each other, each in its own process, in short alternating bursts.
//
// Method (measured on an H200, docs/performance.md): strict alternation of two processes adds up to 2% through context
// switches; bursts whose first run is dropped equal a solo run within 0.5%. Every run is preceded by an L2 flush in the
// worker and timed by CUDA events. Counts come from the baseline alone, so that no candidate can choose how often it
// runs.
#pragma once

#include <optional>
#include <string>

#include "agent/judge/check.h"
#include "agent/judge/contender.h"
#include "agent/judge/crew.h"
#include "agent/judge/verdict.h"

namespace kagent {

// Fills verdict.candidate, verdict.baselines, verdict.faster and the rules null_plan and floor. Baselines: eager
// (TF32), graphed_eager, null_plan; one that cannot be measured here carries a note. A failure is the candidate's
// (stage "time") or internal.
std::optional<Failure> time_candidate(Crew& crew, Child& candidate, const TimingRules& rules, const Seeds& seeds,
                                      const std::string& exchange_file, Verdict& verdict);

// A winner once more, in a process that timed nothing before: of many samples the best one by luck is no winner. The
// plan is loaded. What is lower counts; verdict.retimed holds both.
std::optional<Failure> time_again(Crew& crew, Child& candidate, const TimingRules& rules, const Seeds& seeds,
                                  const std::string& exchange_file, Verdict& verdict);

}  // namespace kagent
