// A run directory: manifest.json, tasks/<task>/events.jsonl, blobs/ (docs/run_format.md).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/run/blob_store.h"
#include "agent/run/event_log.h"
#include "agent/run/task_log.h"

namespace kagent::run {

class RunDirectory {
 public:
  // Creates the run, or opens the one that is there if it has the same identity: what decides whether a later command
  // continues this run (tasks in any order, model, parameters, protocol, prompt set, judge's rules). `facts` (versions,
  // machine, GPU) are recorded once and may differ later. Errors: kUsage names what differs; kIo; kParse.
  static Result<RunDirectory> create_or_resume(const std::string& folder, const nlohmann::json& identity,
                                               const nlohmann::json& facts);
  // What create_or_resume would refuse; nothing is written.
  static Status would_take(const std::string& folder, const nlohmann::json& identity);
  // Errors: kNotFound, kParse.
  static Result<RunDirectory> open(const std::string& folder);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const nlohmann::json& manifest() const { return manifest_; }
  [[nodiscard]] const std::string& manifest_sha256() const { return manifest_sha256_; }
  [[nodiscard]] BlobStore blobs() const { return BlobStore(folder_ + "/blobs"); }

  // Task ids that have a log, in the manifest's order.
  [[nodiscard]] std::vector<std::string> tasks() const;
  // Takes the lease and opens for appending.
  [[nodiscard]] Result<std::unique_ptr<TaskLog>> open_task(const std::string& task_id) const;
  // Reads a task's events without a lease.
  [[nodiscard]] Result<Chain> read_task(const std::string& task_id) const;

  // What LLM judges said of this run: <run>/audit.jsonl, a chain of its own that begins at the manifest's hash.
  [[nodiscard]] Result<std::unique_ptr<EventLog>> open_audit() const;
  // Without a lease; an empty chain if there is none.
  [[nodiscard]] Result<Chain> read_audit() const;

 private:
  std::string folder_;
  nlohmann::json manifest_;
  std::string manifest_sha256_;
};

// What a recorded run answered to one sample; nullopt if it has none.
struct RecordedReply {
  std::string text;
  nlohmann::json event;  // identity, usage
};
Result<std::optional<RecordedReply>> recorded_reply(const RunDirectory& run, const std::string& task_id, int sample);

}  // namespace kagent::run
