// What a log holds of a task to judge it again: its file's text, and the seeds of each sample.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/judge/draws.h"
#include "agent/run/run_directory.h"

namespace kagent::replay {

// The task's file as it was judged: the built-in one where that has the logged hash, else a private copy of the log's
// blob, which goes with this object.
class TaskFile {
 public:
  // `builtin_tasks` is the repository's tasks/ folder; `small_folder`: where small forms of them are written, which a
  // run made with --small has. Errors: kParse (no start event, no hash in it); the blob's; kIo.
  static Result<TaskFile> of(const run::RunDirectory& run, const std::string& task_id,
                             const std::vector<nlohmann::json>& events, const std::string& builtin_tasks,
                             const std::string& small_folder);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool from_log() const { return !folder_.empty(); }

  TaskFile(TaskFile&& other) noexcept;
  TaskFile& operator=(TaskFile&&) = delete;
  TaskFile(const TaskFile&) = delete;
  TaskFile& operator=(const TaskFile&) = delete;
  ~TaskFile();

 private:
  TaskFile() = default;
  std::string path_;
  std::string folder_;  // removed at the end
};

// The draws of one sample. An earlier version of kagent made fewer draws: then those of this version, with the logged
// seeds where it made the same ones, so that the check is never weaker than a verdict made today.
struct LoggedSeeds {
  Seeds seeds;
  int drawn_anew = 0;  // draws that the log has no seed for
};
// Errors: kParse (no seeds at all).
Result<LoggedSeeds> seeds_of(const nlohmann::json& logged);

}  // namespace kagent::replay
