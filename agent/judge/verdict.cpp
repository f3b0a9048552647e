#include "agent/judge/verdict.h"

#include <algorithm>
#include <utility>

#include "agent/base/json_text.h"

namespace kagent {
namespace {

nlohmann::json to_json(const Summary& s) {
  return {{"mean", s.mean_ms}, {"median", s.median_ms}, {"min", s.min_ms}, {"runs", s.runs}};
}

nlohmann::json to_json(const Timed& timed) {
  nlohmann::json out = nlohmann::json::object();
  if (timed.summary.runs > 0) {
    out["ms"] = to_json(timed.summary);
    out["peak_bytes"] = timed.peak_bytes;
  }
  if (timed.speedup) {
    out["speedup"] = {{"ratio", timed.speedup->ratio},
                      {"low", timed.speedup->low},
                      {"high", timed.speedup->high},
                      {"bursts", timed.speedup->pairs}};
  }
  if (!timed.cached_at.empty()) {
    out["from_cache"] = true;
    out["measured_at"] = timed.cached_at;
  }
  if (timed.cached_ratio) out["speedup"] = {{"ratio", *timed.cached_ratio}};
  if (timed.passes_official) out["passes_official_check"] = *timed.passes_official;
  if (!timed.note.empty()) out["note"] = timed.note;
  return out;
}

}  // namespace

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAccepted:
      return "accepted";
    case Outcome::kRejected:
      return "rejected";
    case Outcome::kUndecided:
      return "undecided";
    case Outcome::kError:
      return "error";
  }
  return "error";
}

void Verdict::record(const std::string& rule, RuleOutcome rule_outcome, std::string what, nlohmann::json evidence) {
  const auto same = std::find_if(rules.begin(), rules.end(), [&](const RuleResult& r) { return r.rule == rule; });
  RuleResult result{rule, rule_outcome, std::move(what), std::move(evidence)};
  if (same == rules.end()) {
    rules.push_back(std::move(result));
  } else {
    *same = std::move(result);
  }
}

void Verdict::record_not_run(const std::function<std::string(const Rule&)>& why) {
  for (const Rule& rule : all_rules()) {
    const bool done = std::any_of(rules.begin(), rules.end(), [&](const RuleResult& r) { return r.rule == rule.id; });
    if (!done) record(std::string(rule.id), RuleOutcome::kNotRun, why(rule), nullptr);
  }
}

bool Verdict::counts() const {
  return outcome == Outcome::kAccepted && faster && backend == "cuda" && text_or(plan, "tier", "") == "tf32";
}

int Verdict::exit_code() const {
  switch (outcome) {
    case Outcome::kAccepted:
      return 0;
    case Outcome::kRejected:
      return 1;
    case Outcome::kError:
      return 2;
    case Outcome::kUndecided:
      return 3;
  }
  return 2;
}

nlohmann::json to_json(const Verdict& v) {
  nlohmann::json out = {{"task", v.task},     {"backend", v.backend}, {"outcome", to_string(v.outcome)},
                        {"faster", v.faster}, {"counts", v.counts()}, {"stage", nullptr},
                        {"kind", nullptr},    {"reason", nullptr},    {"line", nullptr},
                        {"block", nullptr},   {"speedup", nullptr}};
  if (v.failure) {
    out["stage"] = v.failure->stage;
    out["kind"] = v.failure->kind;
    out["reason"] = v.failure->reason;
    if (v.failure->line) out["line"] = *v.failure->line;
    if (!v.failure->block.empty()) out["block"] = v.failure->block;
    if (!v.failure->detail.empty()) out["detail"] = v.failure->detail;
  }
  const auto eager = v.baselines.find("eager");
  if (eager != v.baselines.end() && eager->second.speedup) out["speedup"] = eager->second.speedup->ratio;
  if (v.candidate) {
    out["candidate"] = {{"ms", to_json(*v.candidate)}, {"peak_bytes", v.candidate_peak_bytes}};
  }
  nlohmann::json baselines = nlohmann::json::object();
  for (const auto& [name, timed] : v.baselines) baselines[name] = to_json(timed);
  out["baselines"] = baselines;
  if (!v.retimed.empty()) out["retimed"] = v.retimed;
  out["plan"] = v.plan;
  out["compile"] = v.compile;
  out["visible"] = v.visible;
  out["hidden"] = v.hidden;
  out["beyond"] = v.beyond;
  nlohmann::json rules = nlohmann::json::array();
  for (const RuleResult& result : v.rules) rules.push_back(to_json(result));
  out["rules"] = rules;
  out["profile"] = v.profile;
  out["environment"] = v.environment;
  out["seeds"] = v.seeds;
  nlohmann::json phases = nlohmann::json::array();
  for (const auto& [name, seconds] : v.phases_s) phases.push_back({{"phase", name}, {"s", seconds}});
  out["phases"] = phases;
  out["warnings"] = v.warnings;
  return out;
}

}  // namespace kagent
