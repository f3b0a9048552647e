// Renders the prompt of one sample: pure function from facts to text.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/prompt/prompt_set.h"

namespace kagent {

// An earlier sample of the same task. Only what may go back to the model is read from the verdict: never hidden checks.
struct EarlierSample {
  int number = 1;
  std::string cuda;  // the two blocks as answered; empty if there were none
  std::string python;
  std::string compile_log;  // whole; trimmed here
  nlohmann::json verdict;   // docs/verdict.md
};

struct PromptInput {
  std::string source;     // what the prompt shows of the task file
  bool blind = false;     // no sizes in the prompt and none in the feedback
  std::string numerics;   // the task's own precision facts, in words; may be empty
  nlohmann::json device;  // device facts, docs/protocol.md
  int sample = 1;
  int max_samples = 5;
  std::vector<EarlierSample> earlier;    // empty in the independent protocol
  std::size_t feedback_bytes = 120'000;  // budget for `earlier`: older code goes first, then older profiles
};

// Errors: kParse names a template that is not well formed.
Result<std::string> render_prompt(const PromptSet& set, const PromptInput& input);

// Index into `earlier` of the fastest accepted sample; nullopt if none is accepted.
std::optional<std::size_t> best_of(const std::vector<EarlierSample>& earlier);

}  // namespace kagent
