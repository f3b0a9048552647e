#include "agent/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace kagent {
namespace {

Error io_error(const char* doing, const std::string& path, int reason) {
  return {reason == ENOENT   ? Code::kNotFound
          : reason == EEXIST ? Code::kBusy
                             : Code::kIo,
          fmt::format("cannot {} {}: {}", doing, path, std::strerror(reason))};
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

// Writes and syncs a temporary file beside `path`, then lets `publish` give it its name (0, or -1 with errno).
Status write_whole(const std::string& path, std::string_view bytes, int (*publish)(const char*, const char*)) {
  const auto parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) {
    if (Status made = make_folder(parent.string()); !made) return made;
  }
  std::string temporary = path + ".tmp-XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return io_error("write", path, errno);
  int reason = ::fchmod(fd, 0644) == 0 && write_all(fd, bytes) && ::fsync(fd) == 0 ? 0 : errno;
  if (::close(fd) != 0 && reason == 0) reason = errno;
  if (reason == 0 && publish(temporary.c_str(), path.c_str()) != 0) reason = errno;
  if (reason != 0) {
    ::unlink(temporary.c_str());
    return io_error("write", path, reason);
  }
  sync_folder_of(path);
  return Ok{};
}

// Closes the descriptor.
Result<std::string> read_all(int fd, const std::string& path, std::size_t most_bytes) {
  std::string out;
  char chunk[65536];
  while (true) {
    const ssize_t n = ::read(fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    const int reason = errno;
    if (n <= 0) ::close(fd);
    if (n < 0) return io_error("read", path, reason);
    if (n == 0) return out;
    out.append(chunk, static_cast<std::size_t>(n));
    if (out.size() > most_bytes) {
      ::close(fd);
      return Error{Code::kIo, fmt::format("{} is larger than {} bytes", path, most_bytes)};
    }
  }
}

}  // namespace

void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

Result<int> open_own_file(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  if (fd < 0) {
    if (errno == ELOOP)
      return Error{Code::kIo, fmt::format("{} is a symbolic link; only a plain file is taken there", path)};
    return io_error("open", path, errno);
  }
  struct stat facts {};
  if (::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)) return fd;
  ::close(fd);
  return Error{Code::kIo, fmt::format("{} is no plain file", path)};
}

Result<std::string> read_own_file(const std::string& path, std::size_t most_bytes) {
  Result<int> fd = open_own_file(path, O_RDONLY);
  if (!fd) return fd.error();
  return read_all(fd.value(), path, most_bytes);
}

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error("read", path, errno);
  return read_all(fd, path, most_bytes);
}

Status write_file(const std::string& path, std::string_view bytes) {
  return write_whole(path, bytes, [](const char* temporary, const char* final) { return ::rename(temporary, final); });
}

Status create_file(const std::string& path, std::string_view bytes) {
  // Unlike rename, link never replaces.
  return write_whole(path, bytes, [](const char* temporary, const char* final) {
    const int linked = ::link(temporary, final);
    const int reason = errno;
    ::unlink(temporary);
    errno = reason;
    return linked;
  });
}

Status make_folder(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) return Error{Code::kIo, fmt::format("cannot make the folder {}: {}", path, failed.message())};
  return Ok{};
}

}  // namespace kagent
