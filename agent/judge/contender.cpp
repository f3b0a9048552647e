#include "agent/judge/contender.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/base/json_text.h"
#include "agent/base/printable.h"

namespace kagent {
namespace {

using Seconds = std::chrono::duration<double>;

std::string others_in(const nlohmann::json& answer) {
  std::string names;
  for (const auto& process : array_in(answer, "gpu_processes")) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", printable(text_or(process, "name", "unknown")),
                         integer_or(process, "pid", 0));
  }
  return names;
}

}  // namespace

std::optional<Failure> begin(Contender& c, double deadline_s) {
  const ChildReply reply =
      c.worker->ask({{"cmd", "time_begin"}, {"kind", c.kind}, {"seed", c.seed}, {"warmup", 5}}, Seconds(deadline_s));
  c.floor_ms = number_or(reply.answer, "floor_ms", 0.0);
  c.compile_s = number_or(reply.answer, "compile_s", 0.0);
  return failure_of(*c.worker, reply, "time");
}

std::optional<Failure> burst(Contender& c, int runs, double deadline_s) {
  const ChildReply reply =
      c.worker->ask({{"cmd", "time_burst"}, {"kind", c.kind}, {"count", runs}}, Seconds(deadline_s));
  if (auto failure = failure_of(*c.worker, reply, "time")) return failure;
  Burst times;
  for (const auto& ms : array_in(reply.answer, "ms")) {
    if (ms.is_number()) times.push_back(ms.get<double>());
  }
  if (static_cast<int>(times.size()) != runs) {
    return Failure{
        "internal",   "garbled", fmt::format("the {} timed {} of {} runs", c.worker->name(), times.size(), runs),
        std::nullopt, "",        ""};
  }
  times.erase(times.begin());
  c.bursts.push_back(times);
  c.slowed_by.clear();
  for (const auto& word : array_in(reply.answer, "slowed_by")) {
    if (word.is_string()) c.slowed_by.insert(word.get<std::string>());
  }
  return std::nullopt;
}

std::optional<Failure> end(Contender& c, double deadline_s, TimingEnd& seen) {
  const ChildReply reply = c.worker->ask({{"cmd", "time_end"}, {"kind", c.kind}}, Seconds(deadline_s));
  if (auto failure = failure_of(*c.worker, reply, "time")) return failure;
  seen.peak_bytes = integer_or(reply.answer, "peak_bytes", 0);
  if (reply.answer.contains("clocks")) seen.clocks = reply.answer["clocks"];
  seen.others = others_in(reply.answer);
  return std::nullopt;
}

std::optional<Failure> rounds_by_pilot(Contender& eager, const TimingRules& rules, double deadline_s, int& rounds) {
  for (int i = 0; i < rules.pilot_bursts; ++i) {
    if (auto failure = burst(eager, rules.burst, deadline_s)) return failure;
  }
  std::vector<Burst> pilot;
  pilot.swap(eager.bursts);
  const double eager_ms = summarise(pilot).mean_ms;
  const int affordable = static_cast<int>(rules.time_cap_s * 1000 / (eager_ms * rules.burst));
  const int most = std::max(rules.min_bursts, std::min(rules.max_bursts, affordable));
  rounds = bursts_needed(pilot, rules.relative_width, rules.min_bursts, most);
  return std::nullopt;
}

std::optional<Failure> discard_if_slowed(const std::vector<Contender*>& all, int rounds, const TimingRules& rules,
                                         int& discarded) {
  std::set<std::string> why;
  for (const Contender* c : all) {
    if (!c->failure) why.insert(c->slowed_by.begin(), c->slowed_by.end());
  }
  if (why.empty()) return std::nullopt;
  for (Contender* c : all) {
    if (!c->failure) c->bursts.pop_back();
  }
  ++discarded;
  // Of all rounds, kept and discarded.
  const double share = static_cast<double>(discarded) / (rounds + discarded);
  if (discarded < 2 || share <= rules.slowed_share) return std::nullopt;
  return Failure{
      "internal",
      "throttled",
      fmt::format("the GPU's clocks were held down ({}) in {} rounds of timing, more than {:.0f}% of them: let "
                  "it cool down or see `nvidia-smi -q -d PERFORMANCE`, and judge again",
                  fmt::join(why, ", "), discarded, 100 * rules.slowed_share),
      std::nullopt,
      "",
      ""};
}

}  // namespace kagent
