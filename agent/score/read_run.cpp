#include "agent/score/read_run.h"

#include <algorithm>
#include <set>

#include "agent/base/json_text.h"
#include "agent/score/run_baselines.h"

namespace kagent::score {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxSamples = 1000;  // of a log: agent/run/event.h

Asked asked_of(const run::RunDirectory& directory) {
  const json& manifest = directory.manifest();
  const json identity = object_in(manifest, "identity");
  Asked asked;
  asked.run = directory.folder();
  asked.created = text_or(manifest, "created", "");
  asked.kagent = text_or(object_in(manifest, "facts"), "kagent", "");
  asked.model = text_or(identity, "model", "");
  asked.protocol = text_or(identity, "protocol", "");
  asked.prompt_set = text_or(identity, "prompt_set", "");
  asked.prompt_set_sha256 = text_or(identity, "prompt_set_sha256", "");
  asked.request = object_in(identity, "request").dump(-1, ' ', false, json::error_handler_t::replace);
  asked.samples = static_cast<int>(std::clamp<std::int64_t>(integer_or(identity, "samples", 0), 0, kMaxSamples));
  asked.stop_when_faster = flag_or(identity, "stop_when_faster", false);
  return asked;
}

Task task_of(const std::string& id, const std::vector<json>& events, const RunBaselines& baselines) {
  Task task;
  task.id = id;
  task.logged = true;
  run::TaskState state = run::state_of(events);
  task.ended = state.ended;
  const std::string task_sha256 = events.empty() ? "" : text_or(events.front(), "task_sha256", "");
  for (run::SampleState& sample : state.samples) {
    if (sample.verdict)
      (*sample.verdict)["verdict"] = baselines.added_to(object_in(*sample.verdict, "verdict"), task_sha256);
    task.samples.push_back(sample_of(sample));
  }
  for (const json& event : events) {
    if (text_or(event, "kind", "") == "end") task.end_reason = text_or(event, "reason", "");
  }
  return task;
}

}  // namespace

Run read_what_can_be(const run::RunDirectory& directory) {
  const RunBaselines baselines(directory.folder());
  Run run{asked_of(directory), {}, baselines.damage()};
  const std::vector<std::string> with_log = directory.tasks();
  const std::set<std::string> logged(with_log.begin(), with_log.end());
  std::size_t most_samples = 0;
  for (const json& id : directory.manifest()["identity"]["tasks"]) {
    Task task;
    task.id = id.get<std::string>();
    if (logged.count(task.id) > 0) {
      Result<run::Chain> chain = directory.read_task(task.id);
      if (chain) {
        task = task_of(task.id, chain.value().events, baselines);
      } else {
        task.damage = chain.error();
      }
    }
    most_samples = std::max(most_samples, task.samples.size());
    run.tasks.push_back(std::move(task));
  }
  // A manifest that names fewer samples than were drawn, or none, is taken at the logs' word.
  run.asked.samples = std::max(run.asked.samples, static_cast<int>(most_samples));
  return run;
}

Result<Run> read_run(const run::RunDirectory& directory) {
  Run run = read_what_can_be(directory);
  for (const Task& task : run.tasks) {
    if (task.damage) return *task.damage;
  }
  if (run.baselines_damage) return *run.baselines_damage;
  return run;
}

}  // namespace kagent::score
