// A file that only grows; an append is whole and on disk, or it did not happen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/base/result.h"

namespace kagent {

class AppendFile {
 public:
  // Creates the file if need be; its folder must exist. Errors: kNotFound, kIo.
  static Result<AppendFile> open(const std::string& path);

  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  // Writes and syncs. When that fails (kIo: disk full, ...) the file is cut back to what it was. kBusy: the file is not
  // as long as this writer left it, so somebody else wrote; nothing is appended.
  Status append(std::string_view bytes);

  // Cuts the file to its first `bytes` bytes and syncs. Errors: kIo.
  Status truncate(std::uint64_t bytes);

 private:
  AppendFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  [[nodiscard]] Error error(const char* doing, int reason) const;

  int fd_ = -1;
  std::string path_;
  std::uint64_t size_ = 0;
};

}  // namespace kagent
