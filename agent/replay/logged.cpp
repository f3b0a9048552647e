#include "agent/replay/logged.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/run/task_log.h"
#include "agent/task/task.h"

namespace kagent::replay {

using nlohmann::json;

Result<TaskFile> TaskFile::of(const run::RunDirectory& run, const std::string& task_id, const std::vector<json>& events,
                              const std::string& builtin_tasks, const std::string& small_folder) {
  const std::string hash = events.empty() ? "" : text_or(events.front(), "task_sha256", "");
  if (hash.empty()) return Error{Code::kParse, "its log has no start event that names the task's file"};
  TaskFile file;
  const bool small = flag_or(run.manifest()["identity"], "small", false);
  const TaskSource builtin{builtin_tasks, "", "", small ? small_folder : ""};
  if (Result<Task> task = find_task(builtin, task_id); task && task.value().source_sha256 == hash) {
    file.path_ = task.value().path;
    return file;
  }
  Result<std::string> source = run.blobs().get(hash);
  if (!source) return source.error();
  std::string folder = (std::filesystem::temp_directory_path() / "kagent-replay-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return Error{Code::kIo, "cannot make a folder for the task: " + folder};
  file.folder_ = folder;
  file.path_ = folder + "/task.py";
  if (Status written = write_file(file.path_, source.value()); !written) return written.error();
  return file;
}

TaskFile::TaskFile(TaskFile&& other) noexcept
    : path_(std::move(other.path_)), folder_(std::exchange(other.folder_, "")) {}

TaskFile::~TaskFile() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

namespace {

bool same_draw(const json& logged, const Draw& draw) {
  return number_or(logged, "scale", 1) == draw.scale && integer_or(logged, "calls", 1) == draw.calls &&
         text_or(logged, "weights", "as_built") == draw.weights && text_or(logged, "inputs", "as_drawn") == draw.inputs;
}

// Gives each draw the seed of the first logged one of its kind that no draw has yet; how many got none.
int give_seeds(const json& logged, std::vector<Draw>& draws) {
  std::vector<bool> used(logged.size(), false);
  int without = 0;
  for (Draw& draw : draws) {
    std::size_t at = 0;
    while (at < logged.size() && (used[at] || !same_draw(logged[at], draw))) ++at;
    if (at == logged.size() || integer_or(logged[at], "seed", -1) < 0) {
      ++without;
      continue;
    }
    used[at] = true;
    draw.seed = integer_or(logged[at], "seed", 0);
  }
  return without;
}

}  // namespace

Result<LoggedSeeds> seeds_of(const json& logged) {
  if (Result<Seeds> exact = seeds_from_json(logged)) return LoggedSeeds{exact.value(), 0};
  if (!logged.is_object() || array_in(logged, "hidden").empty())
    return Error{Code::kParse, "the log has no seeds of this sample"};
  LoggedSeeds out{draw_seeds(), 0};
  out.seeds.model = integer_or(logged, "model", out.seeds.model);
  out.seeds.timed = integer_or(logged, "timed", out.seeds.timed);
  for (const auto& [name, group] : {std::pair("visible", &out.seeds.visible), std::pair("hidden", &out.seeds.hidden),
                                    std::pair("beyond", &out.seeds.beyond)}) {
    out.drawn_anew += give_seeds(array_in(logged, name), *group);
  }
  return out;
}

}  // namespace kagent::replay
