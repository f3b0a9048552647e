#include "agent/score/words.h"

#include <fmt/format.h>

namespace kagent::score {

const char* to_string(State state) {
  switch (state) {
    case State::kAccepted:
      return "accepted";
    case State::kEmulated:
      return "emulated";
    case State::kRejected:
      return "rejected";
    case State::kUndecided:
      return "undecided";
    case State::kUnjudged:
      return "unjudged";
    case State::kWaiting:
      return "waiting";
    case State::kUnasked:
      break;
  }
  return "not asked";
}

const char* to_string(Tier tier) { return tier == Tier::kTf32 ? "tf32" : tier == Tier::kAny ? "any" : "unknown"; }

const char* to_string(Track track) {
  return track == Track::kPure ? "pure" : track == Track::kLibrary ? "library" : "unknown";
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::string times_words(double ratio) {
  return ratio < 100 ? fmt::format("{:.3g}x", ratio) : fmt::format("{:.0f}x", ratio);
}

std::string threshold_words(double p) { return fmt::format("{:g}", p); }

std::string words_of(const Share& share) {
  const auto interval = share.interval();
  if (!interval) return "nothing to count";
  return fmt::format("{} of {} = {} [{}, {}]", share.hits, share.of, percent(share.value()), percent(interval->low),
                     percent(interval->high));
}

std::string words_of(const Estimate& estimate) {
  if (!estimate.value) return "not known";
  std::string words = times_words(*estimate.value);
  if (estimate.interval)
    words += fmt::format(" [{}, {}]", times_words(estimate.interval->low), times_words(estimate.interval->high));
  return words + fmt::format(" over {} {}", estimate.tasks, estimate.tasks == 1 ? "task" : "tasks");
}

std::string interval_words(const Speedup& speedup) {
  if (!speedup.low || !speedup.high) return "";
  return fmt::format("{:.3g} to {:.3g}", *speedup.low, *speedup.high);
}

std::string percent_words(const Estimate& estimate) {
  if (!estimate.value) return "not known";
  std::string words = percent(*estimate.value);
  if (estimate.interval)
    words += fmt::format(" [{}, {}]", percent(estimate.interval->low), percent(estimate.interval->high));
  return words;
}

}  // namespace kagent::score
