// One process and one kind of run that takes turns with others in timing (docs/protocol.md, time_begin to time_end).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/judge/crew.h"
#include "agent/judge/statistics.h"

namespace kagent {

struct TimingRules {
  int burst = 6;         // runs a burst; the first is dropped
  int pilot_bursts = 4;  // of eager, before any pairing
  int min_bursts = 8;    // 40 timed pairs
  int max_bursts = 40;
  double relative_width = 0.02;  // of the 95% interval of the baseline's mean
  double time_cap_s = 2;         // of GPU time for eager's own bursts, where they are more than min_bursts
  double slowed_share = 0.2;     // of the rounds may be discarded because heat or the hardware held the clocks down
};

struct Contender {
  Child* worker = nullptr;
  std::string kind;        // eager, graphed_eager, null_plan, plan, compile, compile_reduce_overhead
  std::int64_t seed = 42;  // of the first set of inputs
  std::vector<Burst> bursts = {};
  std::optional<Failure> failure = std::nullopt;
  double floor_ms = 0;                   // the null plan's: what no run of this task can be faster than
  double compile_s = 0;                  // torch.compile's first call
  std::set<std::string> slowed_by = {};  // of the last burst: what held the clocks down
};

// Prepares inputs and warms up.
std::optional<Failure> begin(Contender& c, double deadline_s);

// Adds a burst of `runs` runs, without the first.
std::optional<Failure> burst(Contender& c, int runs, double deadline_s);

// What the end of a contender's timing tells.
struct TimingEnd {
  std::int64_t peak_bytes = 0;
  nlohmann::json clocks;
  std::string others;  // who else held memory of the GPU, by name and number: times beside others are worth less
};
std::optional<Failure> end(Contender& c, double deadline_s, TimingEnd& seen);

// Bursts of eager alone, then forgotten: how many rounds there must be. Precondition: it has begun.
std::optional<Failure> rounds_by_pilot(Contender& eager, const TimingRules& rules, double deadline_s, int& rounds);

// A round whose clocks were held down says nothing of anybody: the last burst of each is dropped, `discarded` counted.
// Of `rounds` wanted ones too many: a Failure (internal, throttled), the machine is to blame.
std::optional<Failure> discard_if_slowed(const std::vector<Contender*>& all, int rounds, const TimingRules& rules,
                                         int& discarded);

}  // namespace kagent
