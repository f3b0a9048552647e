#include "agent/run/blob_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/base/file.h"
#include "agent/base/sha256.h"

namespace kagent::run {

bool is_sha256(std::string_view text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string BlobStore::path_of(const std::string& sha256) const {
  return folder_ + "/" + sha256.substr(0, 2) + "/" + sha256;
}

Result<std::string> BlobStore::put(std::string_view bytes) const {
  std::string hash = sha256_hex(bytes);
  const std::string path = path_of(hash);
  if (Result<std::string> there = read_own_file(path, bytes.size()); there && there.value() == bytes) return hash;
  if (Status written = write_file(path, bytes); !written) return written.error();
  return hash;
}

Result<std::string> BlobStore::get(const std::string& sha256) const {
  if (!is_sha256(sha256)) return Error{Code::kParse, fmt::format("{} is no SHA-256", sha256)};
  Result<std::string> bytes = read_own_file(path_of(sha256));
  if (!bytes) return bytes;
  if (sha256_hex(bytes.value()) != sha256)
    return Error{Code::kParse, fmt::format("{} was changed or damaged", path_of(sha256))};
  return bytes;
}

}  // namespace kagent::run
