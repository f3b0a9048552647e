// The scores of a run (docs/scores.md defines each): pure functions of what the logs say.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/score/best.h"
#include "agent/score/bootstrap.h"
#include "agent/score/context.h"
#include "agent/score/read_run.h"
#include "agent/score/share.h"

namespace kagent::score {

// The thresholds of the fast_p curve. KernelBench (arXiv 2502.10517) plots 0 to 4 and more; Level 3 has tasks with
// more.
inline constexpr std::array<double, 10> kThresholds = {0, 0.5, 0.8, 1, 1.5, 2, 4, 8, 16, 32};
inline constexpr int kMostK = 5;

// Against one baseline. All shares are of all tasks: a task without a measured ratio is none of the faster ones.
struct AgainstBaseline {
  std::string name;    // as in the verdicts, or "fastest", "fastest that passes"
  int measured = 0;    // tasks whose best sample has a ratio over it
  int from_cache = 0;  // of these, tasks where it was not timed beside the sample: no interval, so never surely faster
  Share surely;        // the low end of the 95% interval is above 1
  Share ratio_above;   // the ratio is above 1, whatever its interval: KernelBench's fast_1
  Estimate geomean;    // of the ratios

  [[nodiscard]] bool has_intervals() const { return measured > from_cache; }
};

// Figures over one choice of samples: the default tier, one track, one tier, one environment.
struct Group {
  std::string name;
  int samples = 0;        // chosen, of those judged
  Share correct;          // tasks with a correct sample, emulated ones included
  int only_emulated = 0;  // of these, tasks whose correct samples are all emulated: their speed is unknown
  Share counted;          // fast_1: the best sample counts
  std::vector<std::pair<double, Share>> fast_p;
  std::vector<AgainstBaseline> baselines;
  Estimate geomean_correct;   // over tasks with a correct sample whose speed was measured
  Estimate geomean_all;       // over all tasks, the others with 1
  Estimate geomean_fallback;  // the same, slower ones with 1 too: keep PyTorch where it is faster
  Estimate memory;    // eager's peak bytes / the candidate's, over correct tasks where both are known and above 0
  Share memory_less;  // tasks whose best sample uses fewer peak bytes than eager
  std::optional<double> custom_share;  // median over tasks
  int custom_share_tasks = 0;
  bool mixed = false;  // times come from more than one environment: geometric means over them are left out
};

// The best of the first k samples (feedback), or the chance that one of k is good (independent).
struct BestOfK {
  int k = 1;
  Estimate correct;  // shares, as means over tasks
  Estimate counted;
  Estimate geomean_all;  // of the best of the first k; nothing for `independent`
};

struct Cost {
  int replies = 0;
  int requests = 0;
  double usd = 0;
  int usd_known = 0;  // replies whose cost is known; the others are in no sum
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t reasoning_tokens = 0;
  std::int64_t cached_tokens = 0;
  int tokens_known = 0;
};

struct SampleCounts {
  int planned = 0;  // tasks x samples
  int accepted = 0;
  int emulated = 0;
  int rejected = 0;
  int undecided = 0;
  int unjudged = 0;
  int waiting = 0;
  int not_drawn = 0;  // planned, never asked: not begun, or the task ended before
};

struct Phase {
  std::string name;
  double seconds = 0;
  int samples = 0;
};

struct Scores {
  Context context;
  int tasks = 0;
  int logged = 0;
  int ended = 0;
  SampleCounts samples;
  Group all;                  // all but tier `any`
  std::vector<Group> tracks;  // of the same
  std::vector<Group> tiers;
  std::vector<Group> environments;  // only where there are several
  std::vector<BestOfK> best_of_k;
  bool unbiased = false;  // best_of_k is pass@k
  Cost cost;
  std::vector<Phase> phases;  // time by judging phase, over all verdicts, in the order of first appearance
  std::vector<std::string> notes;
};

Scores scores_of(const Run& run);

// One choice of samples.
Group group_of(const Run& run, const std::string& name, const Which& which);

// What the headline is about: every sample but those of tier `any`.
bool in_default_tier(const Sample& sample);

}  // namespace kagent::score
