#include "harness/compile/cache.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "harness/compile/sha256.h"

namespace kagent::compile {
namespace fs = std::filesystem;

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<nlohmann::json> Cache::find(const std::string& key) const {
  const nlohmann::json result = nlohmann::json::parse(read_text(path(key, "result.json")), nullptr, false);
  if (!result.is_object() || !result.contains("files") || !result["files"].is_object()) return std::nullopt;
  for (const auto& [name, hash] : result["files"].items()) {
    if (name.find('/') != std::string::npos || !hash.is_string() ||
        sha256_hex(read_text(path(key, name))) != hash.get<std::string>())
      return std::nullopt;
  }
  return result;
}

std::string Cache::store(const std::string& key, const std::map<std::string, std::string>& files,
                         nlohmann::json result) const {
  std::error_code failed;
  const std::string making = folder_ + "/making-" + key.substr(0, 16) + "-" + std::to_string(::getpid());
  fs::remove_all(making, failed);
  fs::create_directories(making, failed);
  if (failed) return "cannot make " + making + ": " + failed.message();
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream out(making + "/" + name, std::ios::binary);
    out << bytes;
    return static_cast<bool>(out.flush());
  };
  result["files"] = nlohmann::json::object();
  bool written = true;
  for (const auto& [name, bytes] : files) {
    written = written && write(name, bytes);
    result["files"][name] = sha256_hex(bytes);
  }
  written = written && write("result.json", result.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  if (written) {
    fs::remove_all(folder_ + "/" + key, failed);  // a damaged entry, or another process's equal one
    fs::rename(making, folder_ + "/" + key, failed);
    if (!failed || find(key)) return "";
  }
  const std::string why = failed ? failed.message() : "the disk may be full";
  fs::remove_all(making, failed);
  return "cannot write the kernel cache " + folder_ + ": " + why;
}

}  // namespace kagent::compile
