// One task's log, held exclusively by this process: <run>/tasks/<task>/events.jsonl (format: chain.h,
// docs/run_format.md).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/run/blob_store.h"
#include "agent/run/chain.h"

namespace kagent::run {

// What the log says of one sample.
struct SampleState {
  int number = 1;
  std::string prompt_sha256;              // of the last request
  int requests = 0;                       // more than one: a request in flight was lost and repeated
  std::optional<nlohmann::json> reply;    // the event: answer_sha256, identity, usage, ...
  std::optional<nlohmann::json> verdict;  // the event: verdict, artifacts
  std::optional<nlohmann::json> judge;    // the last judge event: seeds
};

struct TaskState {
  std::vector<SampleState> samples;  // numbers 1, 2, ...
  bool started = false;
  bool ended = false;
};

// Pure: derives the state from events. Unknown kinds are ignored.
TaskState state_of(const std::vector<nlohmann::json>& events);

class TaskLog {
 public:
  // Takes the task's lease, reads the chain, sets a torn tail aside. Creates the log if there is none.
  // Errors: kBusy names the process that holds the lease; kParse (damage: nothing is touched); kIo.
  static Result<std::unique_ptr<TaskLog>> open(const std::string& run_folder, const std::string& task_id,
                                               const std::string& manifest_sha256);
  ~TaskLog();
  TaskLog(const TaskLog&) = delete;
  TaskLog& operator=(const TaskLog&) = delete;

  // On return the event is on disk. After an error the log is as before.
  Status append(const std::string& kind, nlohmann::json body);

  [[nodiscard]] const std::vector<nlohmann::json>& events() const { return chain_.events; }
  [[nodiscard]] TaskState state() const { return state_of(chain_.events); }
  [[nodiscard]] const std::string& head() const { return chain_.head; }
  [[nodiscard]] const BlobStore& blobs() const { return blobs_; }
  [[nodiscard]] const std::string& task_id() const { return task_id_; }

 private:
  TaskLog(std::string task_id, BlobStore blobs) : task_id_(std::move(task_id)), blobs_(std::move(blobs)) {}

  std::string task_id_;
  BlobStore blobs_;
  Chain chain_;
  std::string path_;
  int lease_fd_ = -1;
  int log_fd_ = -1;
};

// "3/9" -> "3-9": a folder's name.
std::string folder_of_task(const std::string& task_id);

}  // namespace kagent::run
