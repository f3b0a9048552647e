#include "agent/base/append_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/base/file.h"

namespace kagent {

Result<AppendFile> AppendFile::open(const std::string& path) {
  Result<int> opened = open_own_file(path, O_WRONLY | O_CREAT | O_APPEND);
  if (!opened) return opened.error();
  const int fd = opened.value();
  AppendFile file(fd, path);
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return file.error("read the size of", errno);
  file.size_ = static_cast<std::uint64_t>(facts.st_size);
  if (file.size_ == 0) sync_folder_of(path);
  return file;
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)), size_(other.size_) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(size_, other.size_);
  return *this;
}

AppendFile::~AppendFile() {
  if (fd_ >= 0) ::close(fd_);
}

Error AppendFile::error(const char* doing, int reason) const {
  return {Code::kIo, fmt::format("cannot {} {}: {}", doing, path_, std::strerror(reason))};
}

Status AppendFile::append(std::string_view bytes) {
  struct stat facts {};
  if (::fstat(fd_, &facts) != 0) return error("read the size of", errno);
  if (static_cast<std::uint64_t>(facts.st_size) != size_) {
    return Error{Code::kBusy, fmt::format("another process wrote to {}; let only one work on it", path_)};
  }
  int reason = 0;
  for (std::string_view rest = bytes; !rest.empty() && reason == 0;) {
    const ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n > 0) {
      rest.remove_prefix(static_cast<std::size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      reason = n == 0 ? ENOSPC : errno;
    }
  }
  if (reason == 0 && ::fsync(fd_) != 0) reason = errno;
  if (reason == 0) {
    size_ += bytes.size();
    return Ok{};
  }
  // If cutting back fails as well, a partial end remains, which a reader must expect after a crash anyway.
  if (::ftruncate(fd_, static_cast<off_t>(size_)) != 0) return error("append to, nor cut back,", reason);
  return error("append to", reason);
}

Status AppendFile::truncate(std::uint64_t bytes) {
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0 || ::fsync(fd_) != 0) return error("cut back", errno);
  size_ = bytes;
  return Ok{};
}

}  // namespace kagent
