#include "agent/task/manifest.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agent/base/file.h"

namespace kagent {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20;

// {"batch_size": 2, "layer_sizes": [64, 64]} as assignments: numbers and lists of numbers read the same in Python.
std::string assignments(const nlohmann::json& constants) {
  std::string text;
  for (const auto& [name, value] : constants.items()) text += name + " = " + value.dump() + "\n";
  return text;
}

TaskManifest parse(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  if (json.at("version") != 1) throw std::runtime_error("its version is not 1");
  TaskManifest manifest;
  manifest.blind = json.at("blind").get<std::set<std::string>>();
  for (const auto& task : json.at("tasks")) {
    manifest.tasks.push_back({task.at("id"), task.at("name"), task.at("file"), task.at("upstream"), task.at("numerics"),
                              assignments(task.value("small", nlohmann::json::object())),
                              task.value("cannot_show", std::vector<std::string>())});
  }
  return manifest;
}

}  // namespace

Result<TaskManifest> read_manifest(const std::string& tasks_folder) {
  const std::string path = tasks_folder + "/manifest.json";
  auto text = read_file(path, kMostBytes);
  if (!text) return text.error();
  try {
    return parse(text.value());
  } catch (const std::exception& wrong) {
    return Error{Code::kParse, fmt::format("{} is not a task manifest: {}", path, wrong.what())};
  }
}

}  // namespace kagent
