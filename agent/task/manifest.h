// tasks/manifest.json: what is known about the built-in tasks beside their source. docs/tasks.md describes its fields.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "agent/base/result.h"

namespace kagent {

struct ManifestTask {
  std::string id;
  std::string name;
  std::string file;      // relative to the manifest
  std::string upstream;  // the file's name in the suite
  std::string numerics;
  // Python assignments that make the task small (`batch_size = 2`); empty: none are known.
  std::string small;
  // Wrong versions of the task that no check tells from it (kagent tasks study --mutants); printable.
  std::vector<std::string> cannot_show;
};

struct TaskManifest {
  std::set<std::string> blind;  // ids, also of tasks that only a suite's checkout has
  std::vector<ManifestTask> tasks;
};

// Errors: kNotFound, kIo, kParse (names the file and the field).
Result<TaskManifest> read_manifest(const std::string& tasks_folder);

}  // namespace kagent
