// A logged verdict against one made again: what differs, and what cannot be compared.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kagent::replay {

enum class Agreement {
  kEqual,            // everything that the logged verdict says of the answer was found again
  kVerdictOnly,      // the same outcome, stage and kind; another GPU, so its speed was not compared
  kCorrectnessOnly,  // accepted both times, once on a GPU and once by emulation, which says nothing about speed
  kDiffers,
  kNotCompared,  // one of the two could not decide what the other decided
  kError,        // could not be judged again
};

// "equal", "verdict_only", "correctness_only", "differs", "not_compared", "error".
const char* to_string(Agreement agreement);

struct Comparison {
  Agreement agreement = Agreement::kError;
  std::vector<std::string> differences;  // one line each; empty unless kDiffers
  std::vector<std::string> notes;        // one line each: what was not compared and why; rules of other versions
};

// Both are verdicts in their JSON form (docs/verdict.md); the logged one may be of an earlier version of kagent.
//
// Outcome, stage and kind always; on the same back end also `faster`, and on the same model of GPU each baseline's
// speed-up: the new ratio must lie inside the logged 95% interval and the logged ratio inside the new one. Of two
// measurements that differ by chance alone, and equally much, one in six lies outside the other's interval (the
// difference of two normal variables: P(|z| > 1.96 / sqrt 2) = 0.17), so `apart` is said where not even the intervals
// meet.
Comparison compare(const nlohmann::json& logged, const nlohmann::json& replayed);

}  // namespace kagent::replay
