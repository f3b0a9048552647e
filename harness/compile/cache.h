// Compiled sources on disk: <folder>/<key>/{kernels.cubin, kernels.ptx, preprocessed.cu, compile.log, result.json},
// made whole by a rename. result.json carries the SHA-256 of every other file; an entry that does not match is compiled
// again.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace kagent::compile {

class Cache {
 public:
  explicit Cache(std::string folder) : folder_(std::move(folder)) {}

  // The stored result ("kernels", ...), or nullopt.
  [[nodiscard]] std::optional<nlohmann::json> find(const std::string& key) const;
  // "" or what failed.
  [[nodiscard]] std::string store(const std::string& key, const std::map<std::string, std::string>& files,
                                  nlohmann::json result) const;
  [[nodiscard]] std::string path(const std::string& key, const std::string& file) const {
    return folder_ + "/" + key + "/" + file;
  }

 private:
  std::string folder_;
};

std::string read_text(const std::string& path);

}  // namespace kagent::compile
