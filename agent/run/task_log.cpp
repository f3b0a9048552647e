#include "agent/run/task_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "agent/base/clock.h"
#include "agent/base/file.h"
#include "agent/base/sha256.h"

namespace kagent::run {
namespace {

Error system_error(const char* doing, const std::string& path) {
  return {Code::kIo, fmt::format("cannot {} {}: {}", doing, path, std::strerror(errno))};
}

std::string this_process() {
  char host[256] = "?";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("process {} on {}", ::getpid(), host);
}

// Returns the descriptor that holds the lease.
Result<int> take_lease(const std::string& folder) {
  const std::string path = folder + "/lease";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return system_error("open", path);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    char holder[300] = {};
    const ssize_t n = ::pread(fd, holder, sizeof holder - 1, 0);
    ::close(fd);
    return Error{Code::kBusy, fmt::format("{} is being written by {}; wait for it, or use another run directory",
                                          folder, n > 0 ? holder : "another kagent")};
  }
  const std::string me = this_process();
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, me.data(), me.size(), 0) < 0) { /* the name is a courtesy */
  }
  return fd;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

SampleState& sample_of(TaskState& state, const nlohmann::json& event) {
  const int number = std::clamp(event.value("sample", 1), 1, 1000);
  while (static_cast<int>(state.samples.size()) < number) {
    state.samples.emplace_back();
    state.samples.back().number = static_cast<int>(state.samples.size());
  }
  return state.samples[static_cast<std::size_t>(number - 1)];
}

}  // namespace

std::string folder_of_task(const std::string& task_id) {
  std::string name = task_id;
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

TaskState state_of(const std::vector<nlohmann::json>& events) {
  TaskState state;
  for (const nlohmann::json& event : events) {
    const std::string kind = event.value("kind", "");
    if (kind == "start") state.started = true;
    if (kind == "end") state.ended = true;
    if (kind == "request") {
      SampleState& sample = sample_of(state, event);
      sample.requests += 1;
      sample.prompt_sha256 = event.value("prompt_sha256", "");
    }
    if (kind == "reply") sample_of(state, event).reply = event;
    if (kind == "judge") sample_of(state, event).judge = event;
    if (kind == "verdict") sample_of(state, event).verdict = event;
  }
  return state;
}

Result<std::unique_ptr<TaskLog>> TaskLog::open(const std::string& run_folder, const std::string& task_id,
                                               const std::string& manifest_sha256) {
  const std::string folder = run_folder + "/tasks/" + folder_of_task(task_id);
  if (Status made = make_folder(folder); !made) return made.error();
  std::unique_ptr<TaskLog> log(new TaskLog(task_id, BlobStore(run_folder + "/blobs")));
  Result<int> lease = take_lease(folder);
  if (!lease) return lease.error();
  log->lease_fd_ = lease.value();
  log->path_ = folder + "/events.jsonl";

  std::string text;
  if (Result<std::string> read = read_file(log->path_); read) {
    text = std::move(read).value();
  } else if (read.error().code != Code::kNotFound) {
    return read.error();
  }
  Result<Chain> chain = parse_chain(text, manifest_sha256);
  if (!chain) return chain.error().within(log->path_);
  log->chain_ = std::move(chain).value();

  log->log_fd_ = ::open(log->path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log->log_fd_ < 0) return system_error("write", log->path_);
  if (!log->chain_.torn.empty()) {
    const std::string aside = fmt::format("{}/torn-{}", folder, log->chain_.bytes);
    if (Status kept = write_file(aside, log->chain_.torn); !kept) return kept.error();
    if (::ftruncate(log->log_fd_, static_cast<off_t>(log->chain_.bytes)) != 0)
      return system_error("repair", log->path_);
    log->chain_.torn.clear();
  }
  return log;
}

TaskLog::~TaskLog() {
  if (log_fd_ >= 0) ::close(log_fd_);
  if (lease_fd_ >= 0) ::close(lease_fd_);
}

Status TaskLog::append(const std::string& kind, nlohmann::json body) {
  const std::string line = chain_line(kind, std::move(body), chain_.events.size(), chain_.head, now_utc());
  if (line.size() > kMaxLineBytes)
    return Error{Code::kInternal, fmt::format("an event of kind {} is larger than 16 MiB", kind)};
  if (!write_all(log_fd_, line + "\n") || ::fdatasync(log_fd_) != 0) {
    const Error error = system_error("append to", path_);
    // What was written of the line is taken back, so that a later append starts clean; if even that fails, it is a torn
    // tail.
    if (::ftruncate(log_fd_, static_cast<off_t>(chain_.bytes)) != 0)
      return error.within("the log ends in a partial line");
    return error;
  }
  chain_.bytes += line.size() + 1;
  chain_.head = sha256_hex(line);
  chain_.events.push_back(nlohmann::json::parse(line));
  return Ok{};
}

}  // namespace kagent::run
