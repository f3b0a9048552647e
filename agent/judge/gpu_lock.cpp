#include "agent/judge/gpu_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace kagent {
namespace {

std::string holder(int fd) {
  char text[128] = {};
  const ssize_t n = ::pread(fd, text, sizeof text - 1, 0);
  return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : "another kagent";
}

}  // namespace

Result<std::unique_ptr<GpuLock>> GpuLock::take(const std::string& gpu, double wait_s) {
  const auto path = fmt::format("/tmp/kagent-gpu-{}.lock", gpu);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return Error{Code::kIo, fmt::format("cannot open the GPU lock {}: {}", path, std::strerror(errno))};
  ::fchmod(fd, 0666);  // other users share the GPU; failing (not our file) is fine
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(wait_s);
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      const int reason = errno;
      ::close(fd);
      return Error{Code::kIo, fmt::format("cannot lock {}: {}", path, std::strerror(reason))};
    }
    if (std::chrono::steady_clock::now() >= end) {
      const std::string who = holder(fd);
      ::close(fd);
      return Error{Code::kBusy,
                   fmt::format("GPU {} is in use by {}; wait for it or choose another with --gpu N", gpu, who)};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const std::string me = fmt::format("kagent process {}", ::getpid());
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, me.data(), me.size(), 0) < 0) { /* the name is a courtesy */
  }
  return std::unique_ptr<GpuLock>(new GpuLock(fd));
}

GpuLock::~GpuLock() { ::close(fd_); }

}  // namespace kagent
