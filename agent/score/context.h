// What a score is a score of: it goes wherever a figure goes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agent/score/read_run.h"

namespace kagent::score {

struct Context {
  Asked asked;
  std::vector<std::pair<std::string, int>> models;        // as returned, with replies, in order of appearance
  std::vector<std::pair<Environment, int>> environments;  // of verdicts, likewise
  std::vector<std::pair<Environment, int>> timed;         // of those, the ones with a speed-up

  // One line each.
  [[nodiscard]] std::string model_words() const;
  [[nodiscard]] std::string protocol_words() const;
  [[nodiscard]] std::string environment_words() const;
  [[nodiscard]] bool mixed() const { return timed.size() > 1; }  // times of more than one environment
  // All of it, for a caption.
  [[nodiscard]] std::string line() const;
};

Context context_of(const Run& run);

// How times become a speed-up, in words.
std::string aggregation_words();

}  // namespace kagent::score
