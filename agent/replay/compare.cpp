#include "agent/replay/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "agent/base/json_text.h"
#include "agent/judge/rules.h"

namespace kagent::replay {
namespace {

using nlohmann::json;

// What became of an answer, in the words of its verdict; "" for null.
struct Decision {
  explicit Decision(const json& verdict)
      : backend(text_or(verdict, "backend", "")),
        outcome(text_or(verdict, "outcome", "")),
        stage(text_or(verdict, "stage", "")),
        kind(text_or(verdict, "kind", "")) {}

  [[nodiscard]] bool accepted() const { return outcome == "accepted"; }
  [[nodiscard]] bool on_gpu() const { return backend == "cuda"; }
  [[nodiscard]] bool decided() const { return outcome == "accepted" || outcome == "rejected"; }
  // Rejected by what only a GPU shows.
  [[nodiscard]] bool rejected_for_gpu_reasons() const {
    const Rule* rule = stage == "rules" ? find_rule(kind) : nullptr;
    return outcome == "rejected" && on_gpu() && (stage == "time" || (rule != nullptr && rule->needs_gpu));
  }
  [[nodiscard]] std::string words() const {
    return stage.empty() ? outcome : fmt::format("{} at {} ({})", outcome, stage, kind);
  }

  std::string backend, outcome, stage, kind;
};

struct Speedup {
  double ratio = 0;
  double low = 0;
  double high = 0;
};

std::map<std::string, Speedup> speedups_of(const json& verdict) {
  std::map<std::string, Speedup> found;
  const json baselines = object_in(verdict, "baselines");
  for (const auto& [name, timed] : baselines.items()) {
    const json speedup = object_in(timed, "speedup");
    if (speedup.contains("ratio") && !flag_or(timed, "from_cache", false))  // those were not measured
      found[name] = {number_or(speedup, "ratio", 0), number_or(speedup, "low", 0), number_or(speedup, "high", 0)};
  }
  return found;
}

std::string words_of(const Speedup& s) { return fmt::format("{:.3f} [{:.3f}, {:.3f}]", s.ratio, s.low, s.high); }

void compare_speed(const json& logged, const json& replayed, Comparison& out) {
  const std::map<std::string, Speedup> before = speedups_of(logged);
  std::map<std::string, Speedup> now = speedups_of(replayed);
  for (const auto& [name, then] : before) {
    const auto again = now.find(name);
    if (again == now.end()) {
      out.notes.push_back(fmt::format("speed-up over {} not compared: not measured this time", name));
      continue;
    }
    const Speedup& here = again->second;
    const bool new_inside = then.low <= here.ratio && here.ratio <= then.high;
    const bool logged_inside = here.low <= then.ratio && then.ratio <= here.high;
    if (!new_inside || !logged_inside) {
      const bool apart = here.high < then.low || then.high < here.low;
      out.differences.push_back(fmt::format("speed-up over {}: {}, logged {}{}{}", name, words_of(here), words_of(then),
                                            new_inside ? "; the logged ratio is outside the new interval" : "",
                                            apart ? "; the intervals are apart" : ""));
    }
    now.erase(again);
  }
  for (const auto& entry : now)
    out.notes.push_back(fmt::format("speed-up over {} not compared: not in the logged verdict", entry.first));
}

std::map<std::string, std::int64_t> rule_versions(const json& verdict) {
  std::map<std::string, std::int64_t> versions;
  for (const json& rule : array_in(verdict, "rules")) {
    if (const std::string name = text_or(rule, "rule", ""); !name.empty())
      versions[name] = integer_or(rule, "version", 0);
  }
  return versions;
}

std::string rule_versions_differ(const json& logged, const json& replayed) {
  const auto before = rule_versions(logged);
  const auto now = rule_versions(replayed);
  if (before.empty() && !now.empty())
    return "the logged verdict has no record of rules: it was made before there were any";
  std::string differ;
  const auto add = [&](const std::string& what) { differ += (differ.empty() ? "" : ", ") + what; };
  for (const auto& [rule, version] : before) {
    const auto at = now.find(rule);
    if (at == now.end()) {
      add(fmt::format("{} is gone", rule));
    } else if (at->second != version) {
      add(fmt::format("{} {} (logged: {})", rule, at->second, version));
    }
  }
  for (const auto& entry : now) {
    if (before.count(entry.first) == 0) add(fmt::format("{} is new", entry.first));
  }
  return differ.empty() ? "" : "rules of other versions: " + differ;
}

// Rules that the logged verdict had an outcome for and that were not run this time.
std::string rules_not_run(const json& logged, const json& replayed) {
  const auto not_run = [](const json& rule) { return text_or(rule, "outcome", "") == "not_run"; };
  std::string names;
  for (const json& rule : array_in(replayed, "rules")) {
    const std::string name = text_or(rule, "rule", "");
    for (const json& before : array_in(logged, "rules")) {
      if (not_run(rule) && !not_run(before) && text_or(before, "rule", "") == name)
        names += (names.empty() ? "" : ", ") + name;
    }
  }
  return names;
}

std::string gpu_of(const json& verdict) {
  return text_or(object_in(object_in(verdict, "environment"), "device"), "name", "");
}

// The part of the judging that one of the two back ends has not; nullopt: all that was decided can be compared.
std::optional<std::string> out_of_reach(const Decision& then, const Decision& now) {
  if (!then.decided()) return fmt::format("logged as {}", then.outcome.empty() ? "nothing" : then.outcome);
  if (!now.decided()) return fmt::format("{} here ({})", now.outcome, now.kind);
  if (then.on_gpu() == now.on_gpu()) return std::nullopt;
  if (then.rejected_for_gpu_reasons() && now.accepted())
    return "logged as " + then.words() + ", which only a GPU shows";
  if (now.rejected_for_gpu_reasons() && then.accepted()) return "now " + now.words() + ", which only a GPU shows";
  return std::nullopt;
}

}  // namespace

const char* to_string(Agreement agreement) {
  constexpr const char* kWords[] = {"equal", "verdict_only", "correctness_only", "differs", "not_compared", "error"};
  return kWords[static_cast<int>(agreement)];
}

Comparison compare(const json& logged, const json& replayed) {
  const Decision then(logged);
  const Decision now(replayed);
  Comparison out;
  if (const std::string rules = rule_versions_differ(logged, replayed); !rules.empty() && now.stage != "answer")
    out.notes.push_back(rules);
  if (now.outcome == "error") {
    out.agreement = Agreement::kError;
    out.notes.push_back("could not be judged again: " + text_or(replayed, "reason", "no reason given"));
    return out;
  }
  if (const auto why = out_of_reach(then, now)) {
    out.agreement = Agreement::kNotCompared;
    out.notes.push_back("not compared: " + *why);
    return out;
  }
  if (then.words() != now.words()) out.differences.push_back(fmt::format("{}, logged {}", now.words(), then.words()));
  const bool same_backend = then.backend == now.backend;
  const bool same_gpu = same_backend && (!now.on_gpu() || gpu_of(logged) == gpu_of(replayed));
  if (then.accepted() && now.accepted()) {
    if (const std::string rules = rules_not_run(logged, replayed); !rules.empty())
      out.notes.push_back("rules not run this time: " + rules);
    if (same_gpu) {
      const bool was = flag_or(logged, "faster", false);
      const bool is = flag_or(replayed, "faster", false);
      if (was != is)
        out.differences.push_back(fmt::format("{}faster, logged {}faster", is ? "" : "not ", was ? "" : "not "));
      compare_speed(logged, replayed, out);
    } else if (same_backend) {
      out.notes.push_back(
          fmt::format("speed not compared: another GPU ({}, logged {})", gpu_of(replayed), gpu_of(logged)));
    } else {
      out.notes.push_back(fmt::format("correctness only: judged by {}, logged by {}", now.backend, then.backend));
    }
  }
  out.agreement = !out.differences.empty()       ? Agreement::kDiffers
                  : same_gpu || !then.accepted() ? Agreement::kEqual
                  : same_backend                 ? Agreement::kVerdictOnly
                                                 : Agreement::kCorrectnessOnly;
  return out;
}

}  // namespace kagent::replay
