#include "agent/score/notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kagent::score {
namespace {

int samples_that(const Run& run, const Which& which) {
  int count = 0;
  for (const Task& task : run.tasks)
    count += static_cast<int>(std::count_if(task.samples.begin(), task.samples.end(), which));
  return count;
}

std::string few(int count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// "; a failure here: 3/34, which has no other".
std::string only_in_tier_any(const Run& run) {
  std::vector<std::string> ids;
  for (const Task& task : run.tasks) {
    if (best_of(task, in_default_tier) == nullptr && best_of(task, [](const Sample&) { return true; }) != nullptr)
      ids.push_back(task.id);
  }
  if (ids.empty()) return "";
  return fmt::format("; a failure here, and without figures: {}, which {} no other right sample", fmt::join(ids, ", "),
                     ids.size() == 1 ? "has" : "have");
}

}  // namespace

std::vector<std::string> notes_of(const Run& run, const Scores& scores) {
  std::vector<std::string> notes;
  const auto note = [&](bool when, const std::string& text) {
    if (when) notes.push_back(text);
  };
  const int begun = scores.logged;
  note(begun < scores.tasks || scores.ended < scores.tasks,
       fmt::format("the run is not finished: of {}, {} begun and {} ended; what is missing counts as a failure here",
                   few(scores.tasks, "task", "tasks"), begun, scores.ended));
  const SampleCounts& s = scores.samples;
  note(s.undecided > 0, fmt::format("{} could not be judged where it was tried (no GPU, or not emulable): counted as "
                                    "no success, shown as undecided",
                                    few(s.undecided, "sample", "samples")));
  note(s.unjudged > 0, fmt::format("{} answered and not judged yet", few(s.unjudged, "sample is", "samples are")));
  note(s.waiting > 0, fmt::format("{} for an answer", few(s.waiting, "sample waits", "samples wait")));
  note(s.emulated > 0, fmt::format("{} accepted by emulation on a CPU: right there, never counted as fast",
                                   few(s.emulated, "sample was", "samples were")));
  const int old = samples_that(run, [](const Sample& x) { return x.state == State::kAccepted && !x.counts; });
  note(old > 0, fmt::format("{} accepted by a kagent whose verdicts did not say whether they count: fast_1 leaves them "
                            "out; kagent replay judges them again",
                            few(old, "sample was", "samples were")));
  const int unmeasured = samples_that(run, [](const Sample& x) { return x.state == State::kAccepted && !x.speedup(); });
  note(unmeasured > 0, fmt::format("{} accepted without a measured speed-up over eager",
                                   few(unmeasured, "sample was", "samples were")));
  const int cached = samples_that(run, [](const Sample& x) {
    return std::any_of(x.baselines.begin(), x.baselines.end(), [](const Baseline& b) { return b.from_cache; });
  });
  note(cached > 0, fmt::format("{} held against baselines that were measured before, not beside them (torch.compile, "
                               "docs/baselines.md): these have no interval, and nothing is surely faster than they are",
                               few(cached, "sample was", "samples were")));
  if (run.baselines_damage) notes.push_back("not used: " + run.baselines_damage->message);
  const int other_tier = samples_that(run, [](const Sample& x) { return x.correct() && x.tier == Tier::kAny; });
  note(other_tier > 0, fmt::format("{} right in tier any (narrower arithmetic): in no figure but that tier's{}",
                                   few(other_tier, "sample was", "samples were"), only_in_tier_any(run)));
  note(scores.context.mixed(),
       fmt::format("times were measured in {} environments: geometric means are given for each, not over all",
                   scores.context.timed.size()));
  note(scores.context.models.size() > 1,
       fmt::format("the replies name {} models: {}", scores.context.models.size(), scores.context.model_words()));
  note(scores.cost.requests > scores.cost.replies + s.waiting,
       fmt::format("{} asked again after an interruption",
                   few(scores.cost.requests - scores.cost.replies - s.waiting, "request was", "requests were")));
  note(scores.cost.usd_known < scores.cost.replies,
       fmt::format("the cost of {} of {} is unknown and in no sum", scores.cost.replies - scores.cost.usd_known,
                   few(scores.cost.replies, "reply", "replies")));
  note(scores.unbiased && samples_that(run, [](const Sample&) { return true; }) < s.planned,
       "pass@k takes samples that were planned and not drawn as failures");
  return notes;
}

}  // namespace kagent::score
