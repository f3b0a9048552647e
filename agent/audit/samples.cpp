#include "agent/audit/samples.h"

#include "agent/base/json_text.h"

namespace kagent::audit {
namespace {

using nlohmann::json;

std::string task_blob(const std::vector<json>& events) {
  for (const json& event : events) {
    if (text_or(event, "kind", "") == "start") return text_or(event, "task_sha256", "");
  }
  return "";
}

}  // namespace

bool Sample::emulated() const { return text_or(verdict, "backend", "") == "emulate"; }

std::string Sample::lacks() const {
  if (subject.count("task") == 0) return "the task's source";
  if (subject.count("cuda") == 0) return "preprocessed.cu";
  return subject.count("plan") == 0 ? "plan.json" : "";
}

Result<std::vector<Sample>> accepted_samples(const run::RunDirectory& run) {
  std::vector<Sample> samples;
  for (const std::string& task : run.tasks()) {
    Result<run::Chain> chain = run.read_task(task);
    if (!chain) return chain.error();
    const std::string source = task_blob(chain.value().events);
    for (const run::SampleState& state : run::state_of(chain.value().events).samples) {
      if (!state.verdict) continue;
      Sample sample{task, state.number, state.verdict->value("verdict", json::object()), {}};
      if (text_or(sample.verdict, "outcome", "") != "accepted") continue;
      const json artifacts = state.verdict->value("artifacts", json::object());
      if (!source.empty()) sample.subject["task"] = source;
      for (const auto& [part, name] : {std::pair("cuda", "preprocessed.cu"), std::pair("plan", "plan.json")}) {
        if (artifacts.contains(name)) sample.subject[part] = text_or(artifacts, name, "");
      }
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

}  // namespace kagent::audit
