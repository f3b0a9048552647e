// What a report is about: a run's scores, and each sample with its texts. Whatever cannot be read is said at its place.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/run/run_directory.h"
#include "agent/score/scores.h"

namespace kagent::report {

// A text of the run's blobs, at most as much of it as the page has room for.
struct Stored {
  std::string text;
  std::size_t bytes = 0;  // of all of it
  std::string problem;    // why it could not be read; then `text` is empty
  bool there = false;     // the log names such a text

  [[nodiscard]] bool cut() const { return text.size() < bytes; }
};

struct SamplePage {
  nlohmann::json reply = nlohmann::json::object();    // the log's event
  nlohmann::json verdict = nlohmann::json::object();  // docs/verdict.md; empty: none yet
  nlohmann::json artifacts = nlohmann::json::object();
  Stored prompt;
  std::string prompt_sha256;
  Stored answer;
  std::string no_blocks;  // why the answer has no two blocks
  Stored cuda;
  Stored python;
  Stored plan;  // as a list
  Stored compile_log;
};

struct TaskPage {
  Stored source;                    // the task file
  std::vector<SamplePage> samples;  // as score::Task::samples
};

struct Gathered {
  score::Run run;
  score::Scores scores;
  std::vector<TaskPage> tasks;  // as run.tasks
  std::size_t text_bytes = 0;   // the most that the page shows of one text
};

// Texts are cut so that all of them together are at most `budget_bytes`.
Gathered gather(const run::RunDirectory& directory, std::size_t budget_bytes = std::size_t{7} << 20);

}  // namespace kagent::report
