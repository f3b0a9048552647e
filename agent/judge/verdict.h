// What the judge says of one answer, and its one JSON form (docs/verdict.md): printed by `judge --json`, kept in the
// log, read by the feedback prompt.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/judge/rules.h"
#include "agent/judge/statistics.h"

namespace kagent {

enum class Outcome {
  kAccepted,   // every rule but speed passes
  kRejected,   // the answer broke a rule: stage, kind and reason say which
  kUndecided,  // could not be judged here (no GPU)
  kError,      // kagent or the machine failed; says nothing about the answer
};

const char* to_string(Outcome outcome);

// Kind of the `internal` failure of an answer that was not judged because the user asked to stop.
inline constexpr const char* kStopAsked = "stopped";

// Where an answer failed, for its author: `line` is 1-based in `block` ("python" or "cuda") of the answer.
struct Failure {
  std::string stage;  // answer, trace, compile, validate, run, visible, hidden, rules, time, internal
  std::string kind;   // a stable word
  std::string reason;
  std::optional<int> line;
  std::string block;
  std::string detail;  // longer text for the log
};

struct Timed {
  Summary summary;
  std::optional<Ratio> speedup;  // this baseline's time / the candidate's
  std::int64_t peak_bytes = 0;
  std::string note;                     // why it was not measured
  std::optional<bool> passes_official;  // the baseline's own verdict under the official check, where measured
  // Of a baseline from the cache: when it was measured, and its mean time / the candidate's, which ran at another time
  // (no interval). Else empty.
  std::string cached_at;
  std::optional<double> cached_ratio;
};

struct Verdict {
  std::string task;
  std::string backend;  // "cuda"; "emulate": correctness only, on a CPU; "none": compiled and validated only
  Outcome outcome = Outcome::kError;
  bool faster = false;  // the low end of the interval is above 1 against eager and the null plan
  std::optional<Failure> failure;

  nlohmann::json plan = nlohmann::json::object();     // steps, launches, library_ops, options, prepare_ms
  nlohmann::json compile = nlohmann::json::object();  // kernels: registers, spills, shared memory; arch, nvrtc
  nlohmann::json visible = nlohmann::json::array();   // one comparison a seed: numbers go back to the model
  nlohmann::json hidden = nlohmann::json::array();    // one comparison a distribution: never shown to the model
  nlohmann::json beyond = nlohmann::json::array();    // one a draw beyond the official ones: never shown either
  std::vector<RuleResult> rules;                      // each rule once, in the order applied
  std::optional<Summary> candidate;
  std::int64_t candidate_peak_bytes = 0;
  std::map<std::string, Timed> baselines;             // eager, graphed_eager, null_plan; from the cache: compile, ...
  nlohmann::json retimed = nlohmann::json::object();  // a winner's speed-ups over eager and null_plan: first and again
  nlohmann::json profile = nlohmann::json::object();  // plan, eager: kernels by time
  nlohmann::json environment = nlohmann::json::object();
  nlohmann::json seeds = nlohmann::json::object();
  std::vector<std::pair<std::string, double>> phases_s;  // in order
  std::vector<std::string> warnings;

  // What a rule said; again: the later word stands.
  void record(const std::string& rule, RuleOutcome outcome, std::string what, nlohmann::json evidence);
  // Rules that have said nothing so far were not run, and this is why.
  void record_not_run(const std::function<std::string(const Rule&)>& why);
  // Accepted and faster, on a GPU, in the default precision tier: what fast_p counts.
  [[nodiscard]] bool counts() const;

  // 0 accepted, 1 rejected, 2 error, 3 undecided.
  [[nodiscard]] int exit_code() const;
};

nlohmann::json to_json(const Verdict& verdict);

// Files that judging left behind, by name: plan.json, preprocessed.cu, kernels.ptx, kernels.cubin, compile.log, ...
using Artifacts = std::map<std::string, std::string>;

}  // namespace kagent
