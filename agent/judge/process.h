// A child process that answers one JSON line to each JSON line (docs/protocol.md).
//
// The child gets a minimal environment and a folder of its own for HOME and TMPDIR; nothing of ours (keys least of all)
// is inherited. Every request has a deadline: a child that misses it, dies or talks nonsense is killed with its whole
// process group, and the caller starts a fresh one.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/json_text.h"
#include "agent/base/result.h"

namespace kagent {

struct ChildSpec {
  std::string name;               // for messages: "tracer"
  std::vector<std::string> argv;  // argv[0] is a path or found in PATH
  std::string gpu;                // CUDA_VISIBLE_DEVICES; "" hides every GPU
  std::string log_path;           // the child's stderr goes here; "": kept until the child is gone
};

// All that a new process needs: its descriptors 0, 1 and 2 are these.
struct SpawnRequest {
  const ChildSpec& spec;
  const std::vector<std::string>& environment;  // NAME=value
  int in;
  int out;
  int err;
};

// Makes the process, leader of a group of its own.
using Spawn = std::function<Result<pid_t>(const SpawnRequest&)>;

// posix_spawn. Errors: kNotFound (no such program), kIo.
Result<pid_t> spawn_process(const SpawnRequest& request);

// Nothing but this reaches a child that may run model-written code.
std::vector<std::string> minimal_environment(const std::string& gpu, const std::string& home);

// A folder for HOME and TMPDIR. Errors: kIo.
Result<std::string> make_home();

// A descriptor to append to this file. Errors: kIo.
Result<int> open_log(const std::string& path);

// A status of waitpid() in words: "exited with code 7".
std::string how_it_ended(int status);

// The last `bytes` of a file; "" when there is none.
std::string tail_of_file(const std::string& path, std::size_t bytes);

// The last line that a program wrote to its log, as the end of a message: "; it last said: no torch here". "" when it
// wrote nothing.
std::string last_said(const std::string& log);

// One answer of a child, of whom nothing is taken for granted. Null: not a JSON object with a boolean "ok", or nested
// so deep that a log line could not hold it.
nlohmann::json read_answer(std::string_view line);

// What happened to a request. kDied and kDeadline mean that the child is gone.
enum class Fate { kAnswered, kDied, kDeadline, kGarbled };

struct ChildReply {
  Fate fate = Fate::kDied;
  nlohmann::json answer;  // kAnswered: has "ok"
  std::string detail;     // otherwise: one line, e.g. "killed by signal 11"
  double elapsed_s = 0;

  // True when the child answered with ok: true.
  [[nodiscard]] bool ok() const { return fate == Fate::kAnswered && flag_or(answer, "ok", false); }
};

class Child {
 public:
  // Starts the process. Errors: kNotFound (no such program), kIo.
  static Result<std::unique_ptr<Child>> start(const ChildSpec& spec, const Spawn& spawn = spawn_process);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Sends one request and waits for its answer. An answer is at most 256 MiB.
  ChildReply ask(const nlohmann::json& request, std::chrono::duration<double> deadline);

  [[nodiscard]] bool alive() const { return pid_ > 0; }
  [[nodiscard]] const std::string& name() const { return name_; }

  // The last `bytes` of what the child wrote to stderr.
  [[nodiscard]] std::string stderr_tail(std::size_t bytes) const;

  void kill();
  // Ends the process without waiting for it; any thread may call it. A request in flight is answered kDied.
  void interrupt();

 private:
  Child() = default;
  std::string reap();  // kills if need be, says how it ended

  std::string name_;
  std::string log_path_;
  std::string home_;
  std::string buffer_;  // bytes read past the last answer
  std::atomic<pid_t> pid_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
};

}  // namespace kagent
