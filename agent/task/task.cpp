#include "agent/task/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "agent/base/file.h"
#include "agent/base/nearest.h"
#include "agent/base/printable.h"
#include "agent/base/sha256.h"
#include "agent/task/blind.h"
#include "agent/task/manifest.h"

namespace kagent {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostSourceBytes = std::size_t{1} << 20;
constexpr int kMostLevels = 9;

// A number in front of `text`, at most four digits; removes it from `text`.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + std::min<std::size_t>(text.size(), 4), number);
  if (failed != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// "3/9" -> level 3, problem 9.
bool set_id(TaskInfo& task, std::string_view id) {
  const auto level = take_number(id);
  if (!level || id.empty() || id.front() != '/') return false;
  id.remove_prefix(1);
  const auto problem = take_number(id);
  if (!problem || !id.empty()) return false;
  task.level = *level;
  task.problem = *problem;
  task.id = fmt::format("{}/{}", *level, *problem);
  return true;
}

// "9_ResNet18.py" in level 3 -> 3/9, ResNet18. Anything else is no task (backups, notes, folders).
std::optional<TaskInfo> task_from_file(const fs::path& path, int level) {
  if (path.extension() != ".py") return std::nullopt;
  const std::string stem = path.stem().string();
  std::string_view rest = stem;
  const auto problem = take_number(rest);
  if (!problem || rest.size() < 2 || rest.front() != '_') return std::nullopt;
  TaskInfo task;
  set_id(task, fmt::format("{}/{}", level, *problem));
  task.name = rest.substr(1);
  task.path = path.string();
  return task;
}

// The folder that holds level1, level2, ...: a checkout has it one or two levels down.
std::optional<fs::path> levels_folder(const fs::path& suite) {
  std::error_code failed;
  for (const fs::path& folder : {suite / "KernelBench", suite / "KernelBench" / "KernelBench", suite}) {
    for (int level = 1; level <= kMostLevels; ++level) {
      if (fs::is_directory(folder / fmt::format("level{}", level), failed)) return folder;
    }
  }
  return std::nullopt;
}

// A checkout's file may be another model than ours under the same number: precision facts go by its file name.
void apply_manifest(const TaskManifest& manifest, TaskInfo& task) {
  task.blind = manifest.blind.contains(task.id);
  for (const ManifestTask& known : manifest.tasks) {
    if (known.id != task.id || known.upstream != fs::path(task.path).filename()) continue;
    task.numerics = known.numerics;
    task.cannot_show = known.cannot_show;
  }
}

Result<std::vector<TaskInfo>> list_suite(const std::string& suite, const TaskManifest& manifest) {
  std::error_code failed;
  if (!fs::is_directory(suite, failed)) {
    return Error{Code::kNotFound, fmt::format("no folder {}; --suite wants the root of a KernelBench checkout", suite)};
  }
  const auto folder = levels_folder(suite);
  std::vector<TaskInfo> tasks;
  for (int level = 1; folder && level <= kMostLevels; ++level) {
    const fs::path within = *folder / fmt::format("level{}", level);
    for (fs::directory_iterator entry(within, failed), end; !failed && entry != end; entry.increment(failed)) {
      auto task = task_from_file(entry->path(), level);
      if (!task) continue;
      apply_manifest(manifest, *task);
      tasks.push_back(std::move(*task));
    }
  }
  if (tasks.empty()) {
    return Error{Code::kNotFound,
                 fmt::format("no KernelBench/level*/<number>_<name>.py under {}; --suite wants the root "
                             "of a KernelBench or KernelBench-Verified checkout",
                             suite)};
  }
  return tasks;
}

Result<std::vector<TaskInfo>> list_builtin(const std::string& folder, const TaskManifest& manifest) {
  std::vector<TaskInfo> tasks;
  for (const ManifestTask& known : manifest.tasks) {
    TaskInfo task;
    if (!set_id(task, known.id)) {
      return Error{Code::kParse, fmt::format("{}/manifest.json: \"{}\" is no task id", folder, known.id)};
    }
    task.name = known.name;
    task.path = (fs::path(folder) / known.file).string();
    task.blind = manifest.blind.contains(task.id);
    task.numerics = known.numerics;
    task.small = known.small;
    task.cannot_show = known.cannot_show;
    tasks.push_back(std::move(task));
  }
  return tasks;
}

TaskInfo single_file(const std::string& path) {
  TaskInfo task;
  task.name = fs::path(path).stem().string();
  task.id = "file/" + task.name;
  task.path = path;
  return task;
}

// "ResNet18" or "resnet18" for 3/9. A name that two tasks have names none.
std::string id_of_name(const std::string& name, const std::vector<TaskInfo>& tasks) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  std::string id;
  for (const TaskInfo& task : tasks) {
    if (!std::equal(task.name.begin(), task.name.end(), name.begin(), name.end(), same)) continue;
    if (!id.empty()) return "";
    id = task.id;
  }
  return id;
}

Error unknown_task(const std::string& id, const std::vector<TaskInfo>& tasks) {
  if (id.find(',') != std::string::npos) {
    return {Code::kUsage, fmt::format("give one task, not {}; `kagent run --tasks 3/1,3/9` lets a model solve several",
                                      name_text(id))};
  }
  TaskInfo wanted;
  if (set_id(wanted, id)) {
    const auto in_level = [&](const TaskInfo& task) { return task.level == wanted.level; };
    const auto first = std::find_if(tasks.begin(), tasks.end(), in_level);
    const auto last = std::find_if(tasks.rbegin(), tasks.rend(), in_level);  // sorted by level and problem
    if (first != tasks.end())
      return {Code::kUsage, fmt::format("there is no task {}; level {} has {} to {} (`kagent tasks` lists them)", id,
                                        wanted.level, first->id, last->id)};
  }
  std::vector<std::string> words;
  words.reserve(2 * tasks.size());
  for (const TaskInfo& task : tasks) words.push_back(task.id);
  for (const TaskInfo& task : tasks) words.push_back(task.name);
  const auto near = nearest(id, words);
  if (!near) return {Code::kUsage, fmt::format("there is no task \"{}\"; `kagent tasks` lists them", id)};
  const auto meant = std::find_if(tasks.begin(), tasks.end(), [&](const TaskInfo& task) {  //
    return task.id == *near || task.name == *near;
  });
  return {Code::kUsage, fmt::format("there is no task \"{}\"; did you mean {} ({})?", id, meant->id, meant->name)};
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(nlohmann::json(text).dump());
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

// A definition at the top level: `class Model(` or `def get_inputs(`, not `class ModelNew(`.
bool defines(const std::string& source, const std::string& definition) {
  for (std::size_t at = source.find(definition); at != std::string::npos; at = source.find(definition, at + 1)) {
    const char next = at + definition.size() < source.size() ? source[at + definition.size()] : '\0';
    if ((at == 0 || source[at - 1] == '\n') && (next == '(' || next == ':' || next == ' ')) return true;
  }
  return false;
}

Result<Task> load(const TaskInfo& info) {
  std::error_code failed;
  if (fs::is_directory(info.path, failed))
    return Error{Code::kUsage, fmt::format("{} is a folder; --file wants one Python file", info.path)};
  auto text = read_file(info.path, kMostSourceBytes);
  if (!text) return text.error().within("task " + info.id);
  if (!is_utf8(text.value())) return Error{Code::kParse, fmt::format("{} is not UTF-8 text", info.path)};
  for (const char* needed : {"class Model", "def get_inputs", "def get_init_inputs"}) {
    if (!defines(text.value(), needed)) {
      return Error{Code::kParse, fmt::format("{} has no `{}` at the top level; a task file has Model, get_inputs and "
                                             "get_init_inputs (docs/tasks.md)",
                                             info.path, needed)};
    }
  }
  Task task;
  static_cast<TaskInfo&>(task) = info;
  task.source_sha256 = sha256_hex(text.value());
  task.source = std::move(text).value();
  return task;
}

// The same file with other sizes at its end: they are read when get_inputs and get_init_inputs are called.
Result<Task> make_small(Task task, const std::string& folder) {
  if (task.small.empty()) {
    return Error{Code::kUsage,
                 fmt::format("{} has no small form; only built-in tasks have one (tasks/manifest.json)", task.id)};
  }
  task.source += "\n\n# The small form of this task.\n" + task.small;
  task.source_sha256 = sha256_hex(task.source);
  task.path = folder + "/" + task.source_sha256.substr(0, 16) + ".py";
  task.name += " (small)";
  if (Status made = make_folder(folder); !made) return made.error();
  if (Status written = write_file(task.path, task.source); !written) return written.error();
  return task;
}

}  // namespace

Result<std::vector<TaskInfo>> list_tasks(const TaskSource& source) {
  if (!source.file.empty()) return std::vector<TaskInfo>{single_file(source.file)};
  const auto manifest = read_manifest(source.builtin);
  if (!manifest) return manifest.error();
  auto tasks = source.suite.empty() ? list_builtin(source.builtin, manifest.value())
                                    : list_suite(source.suite, manifest.value());
  if (!tasks) return tasks;
  std::sort(tasks.value().begin(), tasks.value().end(), [](const TaskInfo& a, const TaskInfo& b) {
    return std::tie(a.level, a.problem, a.path) < std::tie(b.level, b.problem, b.path);
  });
  return tasks;
}

Result<Task> find_task(const TaskSource& source, const std::string& id) {
  if (id.empty() && source.file.empty())
    return Error{Code::kUsage, "which task? Say --task 3/9 (`kagent tasks` lists them) or --file my_model.py"};
  if (!source.file.empty() && !source.suite.empty())
    return Error{Code::kUsage, "--file and --suite are both given; leave one out"};
  if (!source.file.empty() && !id.empty() && !id.starts_with("file/")) {
    return Error{
        Code::kUsage,
        fmt::format("task {} and --file {} are both given; a file is its own task: leave one out", id, source.file)};
  }
  const auto tasks = list_tasks(source);
  if (!tasks) return tasks.error();
  const std::string named = id_of_name(id, tasks.value());
  for (const TaskInfo& task : tasks.value()) {
    if (task.id != id && task.id != named && !(id.empty() && !source.file.empty())) continue;
    Result<Task> loaded = load(task);
    if (!loaded || source.small_folder.empty()) return loaded;
    return make_small(std::move(loaded).value(), source.small_folder);
  }
  return unknown_task(id, tasks.value());
}

std::string prompt_source(const Task& task) { return task.blind ? blind_view(task.source) : task.source; }

}  // namespace kagent
