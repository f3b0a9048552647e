// One judged candidate at a time on a GPU, across processes: an advisory lock on a file named after the GPU.
#pragma once

#include <memory>
#include <string>

#include "agent/base/result.h"

namespace kagent {

class GpuLock {
 public:
  // Takes the lock, waiting up to `wait_s`. Errors: kBusy names the process that holds it; kIo.
  static Result<std::unique_ptr<GpuLock>> take(const std::string& gpu, double wait_s);
  ~GpuLock();
  GpuLock(const GpuLock&) = delete;
  GpuLock& operator=(const GpuLock&) = delete;

 private:
  explicit GpuLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace kagent
