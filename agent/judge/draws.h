// What one evaluation runs: each draw of inputs and weights, and the seeds behind them.
//
// Official draws: KernelBench-Verified 3fdf6fec (arXiv 2607.16241): four input distributions, x1, x3, x0.01, x(-1).
// Draws beyond those: other weights (harness/check/weights.py) and inputs with structure
// (harness/check/input_kinds.py).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/base/result.h"

namespace kagent {

struct Draw {
  std::int64_t seed = 0;
  double scale = 1;
  int calls = 1;                     // calls in a row on one state
  std::string weights = "as_built";  // a regime
  std::string inputs = "as_drawn";   // a kind of inputs
  // What memory holds before it is written: "nan", "huge", or "timed", what a timed run finds.
  std::string poison = "nan";
  // Whose random numbers the inputs are: "host", as the official check draws them, or "device", where drawing is quick.
  std::string drawn_on = "host";
};

// Seeds of one evaluation. Visible ones are fixed; the others are drawn anew for every evaluation and logged.
struct Seeds {
  std::int64_t model = 42;
  std::int64_t timed = 0;  // of the first set of inputs that are timed
  std::vector<Draw> visible;
  std::vector<Draw> hidden;  // official
  std::vector<Draw> beyond;
};
Seeds draw_seeds();
nlohmann::json to_json(const Seeds& seeds);
// Errors: kParse; also draws of another kind than this version makes, since fewer would be a weaker check.
Result<Seeds> seeds_from_json(const nlohmann::json& json);

}  // namespace kagent
