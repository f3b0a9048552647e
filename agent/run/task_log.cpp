#include "agent/run/task_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "agent/base/clock.h"
#include "agent/base/file.h"
#include "agent/base/sha256.h"

namespace kagent::run {

std::string folder_of_task(const std::string& task_id) {
  std::string name = task_id;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '\0'; }, '-');
  if (name.empty() || name.find_first_not_of('.') == std::string::npos) name = "task" + name;
  return name;
}

TaskLog::TaskLog(std::string task_id, BlobStore blobs, Lease lease, AppendFile file, Chain chain)
    : task_id_(std::move(task_id)),
      blobs_(std::move(blobs)),
      lease_(std::move(lease)),
      file_(std::move(file)),
      chain_(std::move(chain)) {}

Result<std::unique_ptr<TaskLog>> TaskLog::open(const std::string& run_folder, const std::string& task_id,
                                               const std::string& manifest_sha256) {
  const std::string folder = run_folder + "/tasks/" + folder_of_task(task_id);
  const std::string path = folder + "/events.jsonl";
  if (Status made = make_folder(folder); !made) return made.error();
  Result<Lease> lease = Lease::take(folder);
  if (!lease) return lease.error();

  std::string text;
  if (Result<std::string> read = read_own_file(path); read) {
    text = std::move(read).value();
  } else if (read.error().code != Code::kNotFound) {
    return read.error();
  }
  Result<Chain> chain = parse_chain(text, manifest_sha256);
  if (!chain) return chain.error().within(path);
  Result<AppendFile> file = AppendFile::open(path);
  if (!file) return file.error();
  std::unique_ptr<TaskLog> log(new TaskLog(task_id, BlobStore(run_folder + "/blobs"), std::move(lease).value(),
                                           std::move(file).value(), std::move(chain).value()));
  if (Status repaired = log->repair(folder); !repaired) return repaired.error();
  return log;
}

// Gives a whole last event its newline, or moves a torn tail to a file of its own.
Status TaskLog::repair(const std::string& folder) {
  if (chain_.newline_missing) {
    if (Status appended = file_.append("\n"); !appended) return appended;
    chain_.bytes += 1;
    chain_.newline_missing = false;
  }
  if (chain_.torn.empty()) return Ok{};
  std::string aside = fmt::format("{}/torn-{}", folder, chain_.bytes);
  std::error_code failed;
  for (int again = 2; std::filesystem::exists(aside, failed); ++again)
    aside = fmt::format("{}/torn-{}-{}", folder, chain_.bytes, again);
  if (Status kept = create_file(aside, chain_.torn); !kept) return kept;
  chain_.torn.clear();
  return file_.truncate(chain_.bytes);
}

Status TaskLog::append(const std::string& kind, nlohmann::json body) {
  if (body.is_null()) body = nlohmann::json::object();
  if (!body.is_object()) return Error{Code::kInternal, fmt::format("the {} event is no JSON object", kind)};
  const std::string line = chain_line(kind, std::move(body), chain_.events.size(), chain_.head, now_utc());
  if (line.size() > kMaxLineBytes)
    return Error{Code::kInternal, fmt::format("an event of kind {} is larger than 16 MiB", kind)};
  // What is written must be readable again, so the reader itself is asked.
  Result<nlohmann::json> event = parse_line(line, chain_.events.size(), chain_.head);
  if (!event) return Error{Code::kInternal, "not logged: " + event.error().message};
  if (Status appended = file_.append(line + "\n"); !appended) return appended;
  chain_.bytes += line.size() + 1;
  chain_.head = sha256_hex(line);
  chain_.events.push_back(std::move(event).value());
  return Ok{};
}

}  // namespace kagent::run
