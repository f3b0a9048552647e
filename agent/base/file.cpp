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
  return {reason == ENOENT ? Code::kNotFound : Code::kIo,
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

void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error("read", path, errno);
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

Status write_file(const std::string& path, std::string_view bytes) {
  const auto parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) {
    if (Status made = make_folder(parent.string()); !made) return made;
  }
  std::string temporary = path + ".tmp-XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return io_error("write", path, errno);
  ::fchmod(fd, 0644);
  const bool written = write_all(fd, bytes) && ::fsync(fd) == 0;
  const int reason = errno;
  const bool closed = ::close(fd) == 0;
  if (!written || !closed || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int why = written ? errno : reason;
    ::unlink(temporary.c_str());
    return io_error("write", path, why);
  }
  sync_folder_of(path);
  return Ok{};
}

Status make_folder(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) return Error{Code::kIo, fmt::format("cannot make the folder {}: {}", path, failed.message())};
  return Ok{};
}

}  // namespace kagent
