// What a log says of its task: derived from the events at every start, stored nowhere.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kagent::run {

// What the log says of one sample.
struct SampleState {
  int number = 1;
  std::string prompt_sha256;              // of the last request
  int requests = 0;                       // more than one: a request in flight was lost and repeated
  std::optional<nlohmann::json> reply;    // the event: answer_sha256, identity, usage, ...
  std::optional<nlohmann::json> verdict;  // the event: verdict, artifacts
  std::optional<nlohmann::json> judge;    // the last judge event: seeds
};

struct TaskState {
  std::vector<SampleState> samples;  // numbers 1, 2, ...
  bool started = false;
  bool ended = false;
};

// Pure: derives the state from the events of a chain that was parsed.
TaskState state_of(const std::vector<nlohmann::json>& events);

}  // namespace kagent::run
