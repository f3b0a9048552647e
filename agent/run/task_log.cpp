#include "agent/run/task_log.h"

#include <algorithm>
#include <utility>

namespace kagent::run {

std::string folder_of_task(const std::string& task_id) {
  std::string name = task_id;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '\0'; }, '-');
  if (name.empty() || name.find_first_not_of('.') == std::string::npos) name = "task" + name;
  return name;
}

Result<std::unique_ptr<TaskLog>> TaskLog::open(const std::string& run_folder, const std::string& task_id,
                                               const std::string& manifest_sha256) {
  auto log = EventLog::open(run_folder + "/tasks/" + folder_of_task(task_id), "events.jsonl", manifest_sha256);
  if (!log) return log.error();
  return std::unique_ptr<TaskLog>(new TaskLog(task_id, BlobStore(run_folder + "/blobs"), std::move(log).value()));
}

}  // namespace kagent::run
