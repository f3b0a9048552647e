// The visible and the hidden check: the candidate runs, its outputs go to the reference worker by file, which compares.
//
// Official rules (agent/judge/draws.h): atol = rtol = 1e-3 under the official evaluator's flags; stricter here: NaN
// never passes, state must be equal, more than one call.
#pragma once

#include <optional>
#include <string>

#include "agent/judge/crew.h"
#include "agent/judge/draws.h"
#include "agent/judge/verdict.h"

namespace kagent {

inline constexpr double kTolerance = 1e-3;

// The request for one run of the plan.
nlohmann::json run_request(const Draw& draw, const std::string& exchange_file);

// A draw as the log keeps it; comparisons add to it.
nlohmann::json entry_of(const Draw& draw);

// One run and comparison. Appends the comparison to `record`. The failure's stage is `stage`.
std::optional<Failure> check_draw(Crew& crew, Child& candidate, const Draw& draw, const std::string& stage,
                                  const std::string& exchange_file, nlohmann::json& record);

// The file of a run against the reference, officially. A Failure of stage "internal", or of `stage` and kind mismatch.
std::optional<Failure> compare_file(Crew& crew, const Draw& draw, const std::string& stage,
                                    const std::string& exchange_file, nlohmann::json& entry);

// The reference worker's word on the file of a run: officially, and (one call) in double precision; docs/protocol.md,
// `compare` and `examine`. `outputs_only`: of a timed run, whose state is that of many calls.
ChildReply ask_compare(Crew& crew, const Draw& draw, const std::string& exchange_file, bool outputs_only = false);
ChildReply ask_examine(Crew& crew, const Draw& draw, const std::string& exchange_file, bool outputs_only = false);

// Examined, found as accurate as honest work, by a draw that can tell.
bool surely_accurate(const ChildReply& examined);

// All visible draws; stops at the first that fails.
std::optional<Failure> check_visible(Crew& crew, Child& candidate, const Seeds& seeds, const std::string& exchange_file,
                                     Verdict& verdict);
// All official hidden draws. Whatever went wrong, the failure says only that the hidden check failed; verdict.hidden
// says what.
std::optional<Failure> check_hidden(Crew& crew, Child& candidate, const Seeds& seeds, const std::string& exchange_file,
                                    Verdict& verdict);

// The only thing that a model is told of a hidden rule about numbers.
Failure hidden_failure();

}  // namespace kagent
