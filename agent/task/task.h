// Tasks in KernelBench's own file format: a Python file with `Model`, `get_inputs` and `get_init_inputs`. They come
// from the built-in suite (tasks/), from a checkout of KernelBench or KernelBench-Verified, or from one file of the
// user's. Nothing here runs a task: the text is read, never interpreted.
#pragma once

#include <string>
#include <vector>

#include "agent/base/result.h"

namespace kagent {

// Where tasks come from: `file` if it is set, else `suite`, else the built-in ones.
struct TaskSource {
  std::string builtin;  // the repository's tasks/ folder; its manifest.json also says which tasks are blind
  std::string suite;    // --suite: the root of a checkout, or a folder that holds level1, level2, ...
  std::string file;     // --file: one task file
  // --small: where to write the task's small form, which is then the task; "" for the task as it is.
  std::string small_folder{};
};

struct TaskInfo {
  std::string id;    // "3/9"; "file/my_model" for a file of the user's
  int level = 0;     // 0 for a file of the user's
  int problem = 0;   // 0 for a file of the user's
  std::string name;  // "resnet18"; a suite's own spelling for its tasks: "ResNet18"
  std::string path;
  bool blind = false;                    // a prompt shows the model alone: no inputs, constructor arguments or sizes
  std::string small;                     // the manifest's assignments for a small form
  std::string numerics;                  // what a prompt says about precision, one to three sentences; may be empty
  std::vector<std::string> cannot_show;  // wrong versions of the task that no check tells from it
};

struct Task : TaskInfo {
  std::string source;         // the file's text, valid UTF-8
  std::string source_sha256;  // of those bytes
};

// All tasks, ordered by level and problem. Errors: kNotFound (no such folder, or no task in it), kParse (manifest).
Result<std::vector<TaskInfo>> list_tasks(const TaskSource& source);

// The task with this id; with `source.file` the id may be empty.
// Errors: kUsage (no such task: names the nearest right one), kNotFound, kIo, kParse (not a task file).
Result<Task> find_task(const TaskSource& source, const std::string& id);

// What a prompt shows of the task: the whole file, or the blind view of it (blind.h).
std::string prompt_source(const Task& task);

}  // namespace kagent
