#include "agent/task/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/base/printable.h"

namespace kagent {
namespace {

using nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{4} << 20;

// {"batch_size": 2, "layer_sizes": [64, 64]} as assignments: numbers and lists of numbers read the same in Python.
std::string assignments(const json& constants) {
  std::string text;
  for (const auto& [name, value] : constants.items()) text += name + " = " + value.dump() + "\n";
  return text;
}

Error wrong(const std::string& what) { return {Code::kParse, what}; }

bool is_texts(const json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const json& v) { return v.is_string(); });
}

// Errors: kParse names the field.
Result<ManifestTask> task_of(const json& task, std::size_t index) {
  const std::string id = text_or(task, "id", "");
  const std::string where = id.empty() ? fmt::format("tasks[{}]", index) : fmt::format("task {}", name_text(id));
  for (const char* field : {"id", "name", "file", "upstream", "numerics"}) {
    if (!task.is_object() || !task.contains(field) || !task[field].is_string())
      return wrong(fmt::format("{}: {} is missing or no text", where, field));
  }
  const json small = task.value("small", json::object());
  if (!small.is_object()) return wrong(fmt::format("{}: small is no object of numbers", where));
  const json cannot_show = task.value("cannot_show", json::array());
  if (!is_texts(cannot_show)) return wrong(fmt::format("{}: cannot_show is no list of texts", where));
  return ManifestTask{id,
                      task["name"].get<std::string>(),
                      task["file"].get<std::string>(),
                      task["upstream"].get<std::string>(),
                      task["numerics"].get<std::string>(),
                      assignments(small),
                      cannot_show.get<std::vector<std::string>>()};
}

Result<TaskManifest> parse(const std::string& text) {
  const Result<json> read = parse_json(text);
  if (!read) return read.error();
  const json& manifest = read.value();
  if (integer_or(manifest, "version", 0) != 1) return wrong("version is not 1");
  if (!manifest.contains("blind") || !is_texts(manifest["blind"])) return wrong("blind is missing or no list of texts");
  if (!manifest.contains("tasks") || !manifest["tasks"].is_array()) return wrong("tasks is missing or no list");
  TaskManifest out;
  out.blind = manifest["blind"].get<std::set<std::string>>();
  for (const json& task : manifest["tasks"]) {
    Result<ManifestTask> known = task_of(task, out.tasks.size());
    if (!known) return known.error();
    out.tasks.push_back(std::move(known).value());
  }
  return out;
}

}  // namespace

Result<TaskManifest> read_manifest(const std::string& tasks_folder) {
  const std::string path = tasks_folder + "/manifest.json";
  auto text = read_file(path, kMostBytes);
  if (!text) return text.error();
  Result<TaskManifest> manifest = parse(text.value());
  if (manifest) return manifest;
  return Error{Code::kParse,
               fmt::format("{} is no task manifest: {}; mend it (docs/tasks.md), or put back the one that "
                           "came with kagent",
                           path, manifest.error().message)};
}

}  // namespace kagent
