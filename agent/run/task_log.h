// One task's log, held exclusively by this process: <run>/tasks/<task>/events.jsonl (format: chain.h,
// docs/run_format.md).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/base/append_file.h"
#include "agent/base/result.h"
#include "agent/run/blob_store.h"
#include "agent/run/chain.h"
#include "agent/run/lease.h"
#include "agent/run/task_state.h"

namespace kagent::run {

class TaskLog {
 public:
  // Takes the task's lease, reads the chain, sets a torn tail aside. Creates the log if there is none.
  // Errors: kBusy names the process that holds the lease; kParse (damage: nothing is touched); kIo.
  static Result<std::unique_ptr<TaskLog>> open(const std::string& run_folder, const std::string& task_id,
                                               const std::string& manifest_sha256);

  // On return the event is on disk. After an error the log is as before. Errors: kIo; kBusy (somebody else wrote to the
  // log); kInternal (not a well-formed event: event.h).
  Status append(const std::string& kind, nlohmann::json body);

  [[nodiscard]] const std::vector<nlohmann::json>& events() const { return chain_.events; }
  [[nodiscard]] TaskState state() const { return state_of(chain_.events); }
  [[nodiscard]] const std::string& head() const { return chain_.head; }
  [[nodiscard]] const BlobStore& blobs() const { return blobs_; }
  [[nodiscard]] const std::string& task_id() const { return task_id_; }

 private:
  TaskLog(std::string task_id, BlobStore blobs, Lease lease, AppendFile file, Chain chain);
  Status repair(const std::string& folder);

  std::string task_id_;
  BlobStore blobs_;
  Lease lease_;
  AppendFile file_;
  Chain chain_;
};

// "3/9" -> "3-9": a folder's name. Whatever the id holds, the name stays inside its parent.
std::string folder_of_task(const std::string& task_id);

}  // namespace kagent::run
