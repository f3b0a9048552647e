#include "agent/run/task_state.h"

#include <algorithm>

#include "agent/base/json_text.h"

namespace kagent::run {
namespace {

SampleState& sample_of(TaskState& state, const nlohmann::json& event) {
  const auto number = static_cast<int>(std::clamp<std::int64_t>(integer_or(event, "sample", 1), 1, 1000));
  while (static_cast<int>(state.samples.size()) < number) {
    state.samples.emplace_back();
    state.samples.back().number = static_cast<int>(state.samples.size());
  }
  return state.samples[static_cast<std::size_t>(number - 1)];
}

}  // namespace

TaskState state_of(const std::vector<nlohmann::json>& events) {
  TaskState state;
  for (const nlohmann::json& event : events) {
    const std::string kind = text_or(event, "kind", "");
    if (kind == "start") state.started = true;
    if (kind == "end") state.ended = true;
    if (kind == "request") {
      SampleState& sample = sample_of(state, event);
      sample.requests += 1;
      sample.prompt_sha256 = text_or(event, "prompt_sha256", "");
    }
    if (kind == "reply") sample_of(state, event).reply = event;
    if (kind == "judge") sample_of(state, event).judge = event;
    if (kind == "verdict") sample_of(state, event).verdict = event;
  }
  return state;
}

}  // namespace kagent::run
