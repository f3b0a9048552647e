// One sample of a task as scores need it: what its verdict says, read once, whatever the log holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/run/task_state.h"

namespace kagent::score {

enum class State {
  kAccepted,   // on a GPU
  kEmulated,   // accepted where kernels ran on the CPU: right, speed unknown
  kRejected,   // the answer broke a rule
  kUndecided,  // could not be judged there (no GPU), or kagent failed
  kUnjudged,   // answered, no verdict yet
  kWaiting,    // asked, no answer yet
  kUnasked,    // a later sample was asked, this one was not
};

enum class Tier { kTf32, kAny, kUnknown };       // kUnknown: judged before verdicts recorded it
enum class Track { kPure, kLibrary, kUnknown };  // kPure: no library call that computes

struct Speedup {
  double ratio = 0;  // mean time of the baseline / mean time of the candidate
  // Of the 95% interval; nothing: the baseline is from the cache and was not timed beside the candidate.
  std::optional<double> low;
  std::optional<double> high;

  [[nodiscard]] bool surely_above_1() const { return low.value_or(0) > 1; }
};

struct Baseline {
  std::string name;
  std::optional<double> mean_ms;
  std::optional<double> median_ms;
  std::optional<Speedup> speedup;
  std::optional<std::int64_t> peak_bytes;
  std::optional<bool> passes_official;
  bool from_cache = false;
  std::string note;  // why it was not measured, or when, if not beside the candidate
};

// Where a verdict was made. Times of two environments are not compared.
struct Environment {
  std::string backend;  // cuda, emulate, none
  std::string gpu;      // "NVIDIA H200"
  std::string driver;
  std::string torch;

  // What differs in nothing that a verdict of that back end depends on is one environment, named once.
  bool operator==(const Environment& other) const { return words() == other.words(); }
  [[nodiscard]] std::string words() const;
};

struct Tokens {
  std::optional<std::int64_t> input;
  std::optional<std::int64_t> output;
  std::optional<std::int64_t> reasoning;
  std::optional<std::int64_t> cached;
};

struct Sample {
  int number = 1;
  State state = State::kUnasked;
  int requests = 0;

  // Of the reply, if there is one.
  std::string model;  // as returned
  std::string vendor;
  std::string provider;
  Tokens tokens;
  std::optional<double> cost_usd;

  // Of the verdict, if there is one.
  std::string stage;
  std::string kind;
  std::string reason;
  std::optional<bool> counts;  // nothing: judged before verdicts said so
  bool faster = false;
  Tier tier = Tier::kUnknown;
  Track track = Track::kUnknown;
  Environment environment;
  std::optional<double> mean_ms;
  std::optional<double> median_ms;
  std::optional<std::int64_t> peak_bytes;
  std::vector<Baseline> baselines;  // in the order eager, graphed_eager, null_plan, others by name
  std::optional<double> custom_share;
  std::vector<std::string> library_ops;
  std::optional<int> launches;
  std::vector<std::pair<std::string, double>> phases_s;

  [[nodiscard]] bool correct() const { return state == State::kAccepted || state == State::kEmulated; }
  [[nodiscard]] bool judged() const { return correct() || state == State::kRejected; }
  [[nodiscard]] const Baseline* baseline(const std::string& name) const;
  [[nodiscard]] std::optional<Speedup> speedup() const;  // over eager
};

// Never fails: what is missing or of another type is left out; a time, ratio or share that cannot be one too.
Sample sample_of(const run::SampleState& state);

// The order in which baselines are shown: eager, graphed_eager, null_plan, then by name.
bool baseline_before(const std::string& a, const std::string& b);

}  // namespace kagent::score
