#include "agent/base/sha256.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <fstream>
#include <memory>
#include <vector>

namespace kagent {
namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

std::string hex(const Digest& digest) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return hex(digest);
}

Result<std::string> sha256_of_file(const std::string& path) {
  const Error failed{Code::kIo, "cannot read " + path};
  std::ifstream file(path, std::ios::binary);
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (!file || !context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) return failed;
  std::vector<char> chunk(std::size_t{1} << 20);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
    if (EVP_DigestUpdate(context.get(), chunk.data(), static_cast<std::size_t>(file.gcount())) != 1) return failed;
  }
  Digest digest;
  if (file.bad() || EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) != 1) return failed;
  return hex(digest);
}

}  // namespace kagent
