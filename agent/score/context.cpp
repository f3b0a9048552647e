#include "agent/score/context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kagent::score {
namespace {

template <typename T>
void count_in(std::vector<std::pair<T, int>>& counts, const T& what) {
  const auto found = std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == what; });
  if (found == counts.end()) {
    counts.emplace_back(what, 1);
  } else {
    ++found->second;
  }
}

}  // namespace

Context context_of(const Run& run) {
  Context context;
  context.asked = run.asked;
  for (const Task& task : run.tasks) {
    for (const Sample& sample : task.samples) {
      if (!sample.model.empty()) count_in(context.models, sample.model);
      if (!sample.judged() && sample.state != State::kUndecided) continue;
      // An answer without the two blocks is judged nowhere.
      if (sample.environment.gpu.empty() && sample.stage == "answer") continue;
      count_in(context.environments, sample.environment);
      if (sample.speedup()) count_in(context.timed, sample.environment);
    }
  }
  return context;
}

std::string Context::model_words() const {
  std::string words = asked.model.empty() ? "unknown" : asked.model;
  if (models.empty()) return words + ", no reply yet";
  std::vector<std::string> names;
  names.reserve(models.size());
  for (const auto& [name, replies] : models)
    names.push_back(models.size() > 1 ? fmt::format("{} ({} replies)", name, replies) : name);
  return words + fmt::format(", returned as {}", fmt::join(names, "; "));
}

std::string Context::protocol_words() const {
  return fmt::format("{}, {} {} a task{}", asked.protocol.empty() ? "unknown protocol" : asked.protocol, asked.samples,
                     asked.samples == 1 ? "sample" : "samples",
                     asked.stop_when_faster ? " at most, stops at the first that is accepted and faster" : "");
}

std::string Context::environment_words() const {
  if (environments.empty()) return "nothing judged yet";
  std::vector<std::string> names;
  names.reserve(environments.size());
  for (const auto& [environment, verdicts] : environments) {
    names.push_back(environments.size() > 1 ? fmt::format("{} ({} verdicts)", environment.words(), verdicts)
                                            : environment.words());
  }
  return fmt::format("{}{}", mixed() ? "MIXED: " : "", fmt::join(names, "; "));
}

std::string Context::line() const {
  return fmt::format("{} · {} · {} · kagent {} · {}", model_words(), protocol_words(), environment_words(),
                     asked.kagent.empty() ? "unknown" : asked.kagent, aggregation_words());
}

std::string aggregation_words() {
  return "speed-up = mean baseline time / mean candidate time, both timed in alternating bursts; 95% interval from the "
         "bursts' ratios";
}

}  // namespace kagent::score
