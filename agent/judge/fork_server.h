// The process that imports torch once and forks workers (docs/protocol.md, "Fork server").
//
// What it forks is an orphan that this process adopts (PR_SET_CHILD_SUBREAPER), so that it is waited for like any
// child.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "agent/base/result.h"
#include "agent/judge/process.h"

namespace kagent {

class ForkServer {
 public:
  // Starts `python script`; it imports torch in the background. `log_path`: its stderr; "": kept until it is gone.
  // Errors: kNotFound (no such program), kIo.
  static Result<std::unique_ptr<ForkServer>> start(const std::string& python, const std::string& script,
                                                   const std::string& log_path);
  ~ForkServer();
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  // Forks a process that runs a script of harness/: spec.argv is the script's name and its arguments. Waits for torch
  // at first. One thread at a time. Errors: kIo, kTimeout.
  Result<std::unique_ptr<Child>> fork(const ChildSpec& spec, std::chrono::duration<double> deadline);

 private:
  ForkServer() = default;
  Result<pid_t> request(const SpawnRequest& request, std::chrono::duration<double> deadline);
  Error ended();  // kills it if need be, says how it ended

  pid_t pid_ = -1;
  int channel_ = -1;  // a SOCK_SEQPACKET socket: a message a request
  std::string home_;
  std::string log_path_;
};

}  // namespace kagent
