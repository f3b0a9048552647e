// A run directory as scores need it: every task that the run is about, with or without a log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/run/run_directory.h"
#include "agent/score/sample.h"

namespace kagent::score {

struct Task {
  std::string id;       // "3/9"
  bool logged = false;  // has a log; a task without one is a failure so far
  bool ended = false;
  std::string end_reason;
  std::vector<Sample> samples;    // numbers 1, 2, ...
  std::optional<Error> damage{};  // why its log could not be read; the task is then as if it had none
};

// What was asked for, from the manifest.
struct Asked {
  std::string run;      // the folder
  std::string created;  // RFC 3339
  std::string kagent;   // version that began the run
  std::string model;    // as asked for: "openai:NAME"
  std::string protocol;
  std::string prompt_set;
  std::string prompt_set_sha256;
  std::string request;  // parameters, compact JSON
  int samples = 0;      // planned a task
  bool stop_when_faster = false;

  [[nodiscard]] bool independent() const { return protocol == "independent"; }
};

struct Run {
  Asked asked;
  std::vector<Task> tasks;                  // in the manifest's order
  std::optional<Error> baselines_damage{};  // why the run's baselines.json is not used
};

// As much of it as can be read: never fails, a task whose log cannot be read has `damage`.
Run read_what_can_be(const run::RunDirectory& directory);
// All of it. Errors: a log or baselines.json is damaged (kParse), kIo.
Result<Run> read_run(const run::RunDirectory& directory);

}  // namespace kagent::score
