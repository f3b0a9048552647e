// Contents addressed by their SHA-256 under <run>/blobs/ab/abcdef...: written once, whole, before any event names them.
#pragma once

#include <string>
#include <string_view>

#include "agent/base/result.h"

namespace kagent::run {

class BlobStore {
 public:
  explicit BlobStore(std::string folder) : folder_(std::move(folder)) {}

  // Returns the hash. What is there already stays; a damaged file is replaced. Errors: kIo.
  [[nodiscard]] Result<std::string> put(std::string_view bytes) const;
  // Errors: kNotFound; kParse if the contents no longer match the hash.
  [[nodiscard]] Result<std::string> get(const std::string& sha256) const;

 private:
  [[nodiscard]] std::string path_of(const std::string& sha256) const;
  std::string folder_;
};

// 64 lower-case hexadecimal digits.
bool is_sha256(std::string_view text);

}  // namespace kagent::run
