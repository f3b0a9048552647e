// One task's log, held exclusively by this process: <run>/tasks/<task>/events.jsonl.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/run/blob_store.h"
#include "agent/run/event_log.h"
#include "agent/run/task_state.h"

namespace kagent::run {

class TaskLog {
 public:
  // Errors: EventLog::open's.
  static Result<std::unique_ptr<TaskLog>> open(const std::string& run_folder, const std::string& task_id,
                                               const std::string& manifest_sha256);

  // Errors: EventLog::append's.
  Status append(const std::string& kind, nlohmann::json body) { return log_->append(kind, std::move(body)); }

  [[nodiscard]] const std::vector<nlohmann::json>& events() const { return log_->events(); }
  [[nodiscard]] TaskState state() const { return state_of(events()); }
  [[nodiscard]] const std::string& head() const { return log_->head(); }
  [[nodiscard]] const BlobStore& blobs() const { return blobs_; }
  [[nodiscard]] const std::string& task_id() const { return task_id_; }

 private:
  TaskLog(std::string task_id, BlobStore blobs, std::unique_ptr<EventLog> log)
      : task_id_(std::move(task_id)), blobs_(std::move(blobs)), log_(std::move(log)) {}

  std::string task_id_;
  BlobStore blobs_;
  std::unique_ptr<EventLog> log_;
};

// "3/9" -> "3-9": a folder's name. Whatever the id holds, the name stays inside its parent.
std::string folder_of_task(const std::string& task_id);

}  // namespace kagent::run
