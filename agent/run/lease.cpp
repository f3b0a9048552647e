#include "agent/run/lease.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/base/clock.h"
#include "agent/base/file.h"

namespace kagent::run {
namespace {

std::string this_process() {
  char host[256] = "?";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("process {} on {} since {}", ::getpid(), host, now_utc());
}

std::string holder_named_in(int fd) {
  char text[300];
  const ssize_t n = ::pread(fd, text, sizeof text, 0);
  std::string holder(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  const bool printable = std::all_of(holder.begin(), holder.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return holder.empty() || !printable ? "another process" : holder;
}

}  // namespace

Result<Lease> Lease::take(const std::string& folder) {
  const std::string path = folder + "/lease";
  Lease lease;
  Result<int> opened = open_own_file(path, O_RDWR | O_CREAT);
  if (!opened) return opened.error();
  lease.fd_ = opened.value();
  if (::flock(lease.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Error{Code::kIo, fmt::format("cannot lock {}: {}", path, std::strerror(errno))};
    return Error{Code::kBusy, fmt::format("{} is being written by {}; wait for it, or use another run directory",
                                          folder, holder_named_in(lease.fd_))};
  }
  // The name is a courtesy to whoever waits: a full disk must not stop a holder that has the lock.
  const std::string me = this_process();
  if (::ftruncate(lease.fd_, 0) == 0 && ::pwrite(lease.fd_, me.data(), me.size(), 0) < 0) errno = 0;
  return lease;
}

Lease::Lease(Lease&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Lease::~Lease() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace kagent::run
