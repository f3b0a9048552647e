// The exclusive right to write one task's log: an advisory lock (flock) on a file that names its holder.
#pragma once

#include <string>

#include "agent/base/result.h"

namespace kagent::run {

class Lease {
 public:
  // Never waits. The system frees it when the holder ends, however it ends. Errors: kBusy names the holder; kIo (also
  // where the file system has no locks: a run directory must be on one that has).
  static Result<Lease> take(const std::string& folder);

  Lease() = default;
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

 private:
  int fd_ = -1;
};

}  // namespace kagent::run
