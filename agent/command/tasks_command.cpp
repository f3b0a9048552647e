// kagent tasks: lists tasks; `kagent tasks show 3/9` prints one.

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "agent/command/commands.h"
#include "agent/command/options.h"

namespace kagent {
namespace {

struct Options {
  TaskOptions task;
  std::string id;
  bool json = false;
};

nlohmann::json to_json(const TaskInfo& task) {
  return {
      {"task", task.id}, {"name", task.name}, {"file", task.path}, {"blind", task.blind}, {"numerics", task.numerics}};
}

int list(const Options& options) {
  Result<Installation> installation = find_installation();
  if (!installation) return fail(installation.error());
  Result<std::vector<TaskInfo>> tasks = list_tasks(task_source(options.task, installation.value()));
  if (!tasks) return fail(tasks.error());
  nlohmann::json json = nlohmann::json::array();
  for (const TaskInfo& task : tasks.value()) {
    if (options.json) {
      json.push_back(to_json(task));
    } else {
      fmt::print("{:<8} {}{}\n", task.id, task.name, task.blind ? "  (blind)" : "");
    }
  }
  if (options.json) fmt::print("{}\n", nlohmann::json{{"tasks", json}}.dump(2));
  return 0;
}

int show(const Options& options) {
  Result<Installation> installation = find_installation();
  if (!installation) return fail(installation.error());
  Result<Task> task = find_task(task_source(options.task, installation.value()), options.id);
  if (!task) return fail(task.error());
  if (options.json) {
    nlohmann::json json = to_json(task.value());
    json["source"] = task.value().source;
    json["source_sha256"] = task.value().source_sha256;
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}", task.value().source);
  }
  return 0;
}

}  // namespace

void add_tasks(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("tasks", "list the tasks; `tasks show 3/9` prints one");
  command->add_option("--suite", options->task.suite, "list a KernelBench or KernelBench-Verified checkout")
      ->type_name("DIR");
  command->add_flag("--json", options->json, "one JSON object");
  command->require_subcommand(0, 1);
  CLI::App* one = command->add_subcommand("show", "print one task's file");
  one->add_option("task", options->id, "level/problem, e.g. 3/9")->required()->type_name("TASK");
  one->add_option("--suite", options->task.suite, "from this checkout")->type_name("DIR");
  one->add_flag("--json", options->json, "one JSON object");
  command->footer("Examples:\n  kagent tasks\n  kagent tasks show 3/9\n  kagent tasks --suite ~/KernelBench");
  one->callback([options, &exit_code] { exit_code = show(*options); });
  command->callback([options, one, &exit_code] {
    if (!one->parsed()) exit_code = list(*options);
  });
}

}  // namespace kagent
