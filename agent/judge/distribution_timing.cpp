#include "agent/judge/distribution_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "agent/base/json_text.h"

namespace kagent {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr double kRatio = 1.2;
// An honest answer read 1.4 on an H200: other weights come with a prepare and a captured graph of their own.
constexpr double kRedrawnRatio = 2.0;
constexpr double kLeastMs = 0.010;  // honest kernels of 25 us read 7 us apart on an H200
constexpr double kBudgetMs = 500;   // of the candidate's own time, a measurement
constexpr int kDistributions = 4;   // two sets of inputs each

double time_of(const TimesMs& times, const std::string& name) {
  const auto at = times.find(name);
  return at == times.end() ? 0.0 : at->second;
}

// How much longer `name` takes than x1; 1 where that is not known.
double ratio_of(const TimesMs& times, const std::string& name) {
  const double usual = time_of(times, "x1");
  const double here = time_of(times, name);
  return usual > 0 && here > 0 ? here / usual : 1.0;
}

std::string furthest(const TimesMs& candidate, const TimesMs& eager, bool slower) {
  std::string found;
  double most = 1.0;  // times what is allowed
  for (const auto& [name, ms] : candidate) {
    const double difference = ms - time_of(candidate, "x1");
    if ((slower ? difference : -difference) <= kLeastMs) continue;
    const double mine = ratio_of(candidate, name);
    const double eagers = ratio_of(eager, name);
    const double allowed = name == "redrawn" ? kRedrawnRatio : kRatio;
    const double ratio = (slower ? mine / std::max(1.0, eagers) : std::min(1.0, eagers) / mine) / allowed;
    if (ratio <= most) continue;
    most = ratio;
    found = name;
  }
  return found;
}

std::variant<TimesMs, Failure> ask(Crew& crew, Child& worker, const char* kind, const Seeds& seeds, int rounds) {
  const ChildReply reply = worker.ask({{"cmd", "time_distributions"},
                                       {"kind", kind},
                                       {"seed", seeds.timed},
                                       {"weights_seed", seeds.beyond.at(1).seed},
                                       {"rounds", rounds}},
                                      Seconds(crew.deadlines().time));
  if (auto failure = failure_of(worker, reply, "time")) return *failure;
  TimesMs times;
  const nlohmann::json ms = object_in(reply.answer, "ms");
  for (const auto& [name, value] : ms.items()) {
    if (value.is_number()) times[name] = value.get<double>();
  }
  return times;
}

nlohmann::json evidence_of(const TimesMs& candidate, const TimesMs& eager) {
  nlohmann::json out = {{"ms", candidate}};
  if (!eager.empty()) out["eager_ms"] = eager;
  return out;
}

void record(Verdict& verdict, const TimesMs& candidate, const TimesMs& eager) {
  const auto say = [&](const std::string& name, const char* how) {
    return fmt::format("{} ms for {}, {} than {} ms for the inputs and weights that are timed{}",
                       fmt::format("{:.4g}", time_of(candidate, name)), name, how,
                       fmt::format("{:.4g}", time_of(candidate, "x1")),
                       how[0] == 's' ? ": it does not count as faster" : "");
  };
  const nlohmann::json evidence = evidence_of(candidate, eager);
  if (const std::string slower = slower_distribution(candidate, eager); !slower.empty()) {
    verdict.record("distribution_timing", RuleOutcome::kFlag, say(slower, "slower"), evidence);
    verdict.faster = false;
  } else if (const std::string faster = faster_distribution(candidate, eager); !faster.empty()) {
    verdict.record("distribution_timing", RuleOutcome::kFlag, say(faster, "faster"), evidence);
  } else {
    verdict.record("distribution_timing", candidate.empty() ? RuleOutcome::kNotRun : RuleOutcome::kPass,
                   candidate.empty()
                       ? "the GPU's memory does not suffice for other inputs beside the timed ones"
                       : fmt::format("{} other distributions, as fast as the timed one", candidate.size() - 1),
                   evidence);
  }
}

}  // namespace

std::string slower_distribution(const TimesMs& candidate, const TimesMs& eager) {
  return furthest(candidate, eager, true);
}

std::string faster_distribution(const TimesMs& candidate, const TimesMs& eager) {
  return furthest(candidate, eager, false);
}

std::optional<Failure> time_distributions(Crew& crew, Child& candidate, const Seeds& seeds, Verdict& verdict) {
  const double ms = verdict.candidate ? std::max(verdict.candidate->median_ms, 1e-3) : 1.0;
  const int rounds = std::clamp(static_cast<int>(kBudgetMs / (ms * 2 * kDistributions)), 4, 10);
  const auto first = ask(crew, candidate, "plan", seeds, rounds);
  if (const auto* failure = std::get_if<Failure>(&first)) return *failure;
  TimesMs times = std::get<TimesMs>(first);
  TimesMs eager;
  const auto suspicious = [&] {
    return !slower_distribution(times, eager).empty() || !faster_distribution(times, eager).empty();
  };
  if (suspicious()) {  // once more; and does the reference itself depend on its data?
    const auto second = ask(crew, candidate, "plan", seeds, rounds);
    if (const auto* failure = std::get_if<Failure>(&second)) return *failure;
    if (std::get<TimesMs>(second).size() == times.size()) {
      // Of the two the one in which the ratio is nearer to 1.
      const TimesMs& other = std::get<TimesMs>(second);
      const auto distance = [](const TimesMs& t) {
        double most = 0;
        for (const auto& [name, value] : t) most = std::max(most, std::abs(std::log(ratio_of(t, name))));
        return most;
      };
      if (distance(other) < distance(times)) times = other;
    }
    if (suspicious()) {
      const auto reference = ask(crew, crew.reference(), "eager", seeds, rounds);
      if (const auto* failure = std::get_if<Failure>(&reference)) {
        if (!crew.reference().alive()) return *failure;
      } else {
        eager = std::get<TimesMs>(reference);
      }
    }
  }
  record(verdict, times, eager);
  return std::nullopt;
}

}  // namespace kagent
