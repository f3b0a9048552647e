#include "agent/score/scores.h"

#include <algorithm>

#include "agent/score/best_of_k.h"
#include "agent/score/notes.h"

namespace kagent::score {
namespace {

SampleCounts count_samples(const Run& run) {
  SampleCounts counts;
  counts.planned = static_cast<int>(run.tasks.size()) * run.asked.samples;
  int drawn = 0;
  for (const Task& task : run.tasks) {
    for (const Sample& sample : task.samples) {
      drawn += sample.state != State::kUnasked ? 1 : 0;
      counts.accepted += sample.state == State::kAccepted ? 1 : 0;
      counts.emulated += sample.state == State::kEmulated ? 1 : 0;
      counts.rejected += sample.state == State::kRejected ? 1 : 0;
      counts.undecided += sample.state == State::kUndecided ? 1 : 0;
      counts.unjudged += sample.state == State::kUnjudged ? 1 : 0;
      counts.waiting += sample.state == State::kWaiting ? 1 : 0;
    }
  }
  counts.not_drawn = std::max(0, counts.planned - drawn);
  return counts;
}

Cost cost_of(const Run& run) {
  Cost cost;
  for (const Task& task : run.tasks) {
    for (const Sample& sample : task.samples) {
      cost.requests += sample.requests;
      if (sample.state == State::kWaiting || sample.state == State::kUnasked) continue;
      cost.replies += 1;
      if (sample.cost_usd) {
        cost.usd += *sample.cost_usd;
        cost.usd_known += 1;
      }
      const Tokens& tokens = sample.tokens;
      cost.tokens_known += tokens.input && tokens.output ? 1 : 0;
      cost.input_tokens += tokens.input.value_or(0);
      cost.output_tokens += tokens.output.value_or(0);
      cost.reasoning_tokens += tokens.reasoning.value_or(0);
      cost.cached_tokens += tokens.cached.value_or(0);
    }
  }
  return cost;
}

std::vector<Phase> phases_of(const Run& run) {
  std::vector<Phase> phases;
  for (const Task& task : run.tasks) {
    for (const Sample& sample : task.samples) {
      for (const auto& [name, seconds] : sample.phases_s) {
        auto found = std::find_if(phases.begin(), phases.end(), [&n = name](const Phase& p) { return p.name == n; });
        if (found == phases.end()) found = phases.insert(phases.end(), Phase{name, 0, 0});
        found->seconds += seconds;
        found->samples += 1;
      }
    }
  }
  return phases;
}

// A group that holds no judged sample says nothing.
void add(std::vector<Group>& groups, Group group) {
  if (group.samples > 0) groups.push_back(std::move(group));
}

}  // namespace

Scores scores_of(const Run& run) {
  Scores scores;
  scores.context = context_of(run);
  scores.tasks = static_cast<int>(run.tasks.size());
  for (const Task& task : run.tasks) {
    scores.logged += task.logged ? 1 : 0;
    scores.ended += task.ended ? 1 : 0;
  }
  scores.samples = count_samples(run);
  scores.all = group_of(run, "default tier", in_default_tier);
  for (const auto& [track, name] :
       {std::pair{Track::kPure, "pure"}, {Track::kLibrary, "library"}, {Track::kUnknown, "unknown"}}) {
    add(scores.tracks,
        group_of(run, name, [t = track](const Sample& s) { return in_default_tier(s) && s.track == t; }));
  }
  for (const auto& [tier, name] : {std::pair{Tier::kTf32, "tf32"}, {Tier::kAny, "any"}, {Tier::kUnknown, "unknown"}})
    add(scores.tiers, group_of(run, name, [t = tier](const Sample& s) { return s.tier == t; }));
  if (scores.context.environments.size() > 1) {
    for (const auto& [environment, verdicts] : scores.context.environments) {
      add(scores.environments, group_of(run, environment.words(), [&e = environment](const Sample& s) {
            return in_default_tier(s) && s.environment == e;
          }));
    }
  }
  scores.best_of_k = best_of_k(run, scores.all.mixed);
  scores.unbiased = pass_at_k_applies(run.asked);
  scores.cost = cost_of(run);
  scores.phases = phases_of(run);
  scores.notes = notes_of(run, scores);
  return scores;
}

}  // namespace kagent::score
