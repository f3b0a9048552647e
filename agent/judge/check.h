// The visible and the hidden check: the candidate runs, its outputs go to the reference worker by file, which compares.
//
// Rules: KernelBench-Verified 3fdf6fec (arXiv 2607.16241): four input distributions (x1, x3, x0.01, x(-1)), atol = rtol
// = 1e-3 under the official evaluator's flags; stricter here: NaN never passes, state must be equal, more than one
// call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/judge/crew.h"
#include "agent/judge/verdict.h"

namespace kagent {

inline constexpr double kTolerance = 1e-3;

struct Draw {
  std::int64_t seed = 0;
  double scale = 1;
  int calls = 1;  // calls in a row on one state
};

// Seeds of one evaluation. Visible ones are fixed; hidden ones are drawn anew for every evaluation and logged.
struct Seeds {
  std::int64_t model = 42;
  std::vector<Draw> visible;
  std::vector<Draw> hidden;
};
Seeds draw_seeds();
nlohmann::json to_json(const Seeds& seeds);
// Errors: kParse.
Result<Seeds> seeds_from_json(const nlohmann::json& json);

// One run and comparison. Appends the comparison to `record`. The failure's stage is `stage`.
std::optional<Failure> check_draw(Crew& crew, Child& candidate, const Draw& draw, const std::string& stage,
                                  const std::string& exchange_file, nlohmann::json& record);

// All visible draws; stops at the first that fails.
std::optional<Failure> check_visible(Crew& crew, Child& candidate, const Seeds& seeds, const std::string& exchange_file,
                                     Verdict& verdict);
// All hidden draws. Whatever went wrong, the failure says only that the hidden check failed; verdict.hidden says what.
std::optional<Failure> check_hidden(Crew& crew, Child& candidate, const Seeds& seeds, const std::string& exchange_file,
                                    Verdict& verdict);

}  // namespace kagent
