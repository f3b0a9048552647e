// kagent tasks: lists tasks; `kagent tasks show 3/9` prints one; `kagent tasks study 3/9` says what can be known of it.

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "agent/base/json_text.h"
#include "agent/command/commands.h"
#include "agent/command/options.h"
#include "agent/command/print.h"
#include "agent/judge/crew.h"

namespace kagent {
namespace {

struct Options {
  TaskOptions task;
  std::string id;
  std::string gpu;
  int mutants = 0;
  bool json = false;
};

nlohmann::json to_json(const TaskInfo& task) {
  return {{"task", task.id},     {"name", task.name},         {"file", task.path},
          {"blind", task.blind}, {"numerics", task.numerics}, {"cannot_show", task.cannot_show}};
}

// What a wrong answer may do to this task and pass every check: measured on its small form.
void print_cannot_show(std::FILE* out, const TaskInfo& task) {
  for (const std::string& name : task.cannot_show) print_text(out, "{}  cannot show      {}\n", task.id, name);
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
      print_text(stdout, "{:<8} {}{}\n", task.id, printable(task.name), task.blind ? "  (blind)" : "");
    }
  }
  if (options.json) fmt::print("{}\n", pretty({{"tasks", json}}));
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
    fmt::print("{}\n", pretty(json));
  } else {
    print_stored(task.value().source);
    std::fflush(stdout);
    print_cannot_show(stderr, task.value());  // the file alone goes to stdout
  }
  return 0;
}

std::string percent(const nlohmann::json& share) {
  return share.is_number() ? fmt::format("{:.3g}%", 100 * share.get<double>()) : std::string("not measured");
}

void print_kills(const std::string& id, const nlohmann::json& kills) {
  if (!kills.is_object()) return;
  print_text(stdout, "{}  {:<16} {} wrong versions: the official check tells {}, all rules {}\n", id, "mutants",
             kills["mutants"].get<int>(), kills["killed_official"].get<int>(), kills["killed"].get<int>());
  for (const auto& name : kills["survivors"])
    print_text(stdout, "{}    not told      {}\n", id, name.get<std::string>());
  if (!kills["exact"].get<bool>())
    print_text(stdout, "{}    the reference itself does not pass: a fault of kagent's\n", id);
}

// Words in lines of some 100 columns, each behind `start`.
std::string in_lines(const std::string& text, const std::string& start) {
  constexpr std::size_t kColumns = 100;
  std::string lines;
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + word.size() >= kColumns) {
      lines += line + "\n";
      line.clear();
    }
    line += (line.empty() ? start : " ") + word;
  }
  return line.empty() ? lines : lines + line + "\n";
}

void print_study(const Task& task, const nlohmann::json& study) {
  const std::string& id = task.id;
  const nlohmann::json& work = study["work"];
  for (const auto& [kind, flops] : work["flops"].items()) {
    if (flops != 0) print_text(stdout, "{}  {:<16} {:.4g} GFLOP\n", id, kind, flops.get<double>() / 1e9);
  }
  print_text(stdout, "{}  {:<16} {:.4g} MB at least\n", id, "memory traffic", work["bytes"].get<double>() / 1e6);
  if (study["floor"].is_object()) {
    print_text(stdout, "{}  {:<16} {:.4g} ms: a measured time below it is an alarm\n", id, "floor",
               study["floor"]["floor_ms"].get<double>());
  } else {
    print_text(stdout, "{}  {:<16} needs a GPU: it follows from that GPU's speeds\n", id, "floor");
  }
  print_kills(id, study["kills"]);
  if (!study["kills"].is_object()) print_cannot_show(stdout, task);
  if (!study["numerics"].is_object()) {
    print_text(stdout, "{}  numerics under the official check need a GPU{}\n{}", id,
               task.numerics.empty() ? "" : "; on an H200:", in_lines(task.numerics, id + "    "));
    return;
  }
  const nlohmann::json& numerics = study["numerics"];
  print_text(stdout, "{}  outputs outside the official tolerance, worst of x1, x3, x0.01 and x(-1):\n", id);
  for (const auto& [name, share] : numerics["shares"].items()) {
    const auto reason = numerics["reasons"].find(name);
    print_text(stdout, "{}    {:<16} {}{}\n", id, name, percent(share),
               reason != numerics["reasons"].end() ? ": " + reason->get<std::string>() : std::string());
  }
  print_text(stdout, "{}  the output for zero input passes: {}; for another seed's: {}; not finite under x3: {}\n", id,
             numerics["zero_input_passes"].get<bool>(), numerics["other_seed_passes"].get<bool>(),
             numerics["not_finite_x3"].get<std::int64_t>());
}

int study(const Options& options) {
  Result<Installation> installation = find_installation();
  if (!installation) return fail(installation.error());
  Result<Task> task = find_task(task_source(options.task, installation.value()), options.id);
  if (!task) return fail(task.error());
  CrewSpec spec;
  spec.task_file = task.value().path;
  spec.gpu = gpu_or_first(options.gpu);
  spec.backend = machine_has_gpu() ? "cuda" : "none";
  Result<nlohmann::json> studied = study_task(installation.value(), spec, options.mutants);
  if (!studied) return fail(studied.error());
  if (options.json) {
    nlohmann::json json = {{"task", task.value().id}};
    json.update(studied.value());
    fmt::print("{}\n", pretty(json));
  } else {
    print_study(task.value(), studied.value());
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
  one->add_flag("--small", options->task.small, "its small form, for machines without a GPU");
  one->add_flag("--json", options->json, "one JSON object");
  CLI::App* studied = command->add_subcommand(
      "study", "a task's operations, least memory traffic, physical floor and numerics, before any kernel is written");
  studied->add_option("task", options->id, "level/problem, e.g. 3/9")->type_name("TASK");
  studied->add_option("--suite", options->task.suite, "from this checkout")->type_name("DIR");
  studied->add_option("--file", options->task.file, "one file of your own instead")->type_name("FILE");
  add_gpu_option(*studied, options->gpu);
  studied->add_flag("--small", options->task.small, "its small form, for machines without a GPU");
  studied
      ->add_option(
          "--mutants", options->mutants,
          "make so many wrong versions of it and count those that the checks tell (24 takes seconds to minutes)")
      ->check(whole_between(0, 10000))
      ->capture_default_str();
  studied->add_flag("--json", options->json, "one JSON object (docs/tasks.md)");
  studied->callback([options, &exit_code] { exit_code = study(*options); });
  command->footer(
      "Examples:\n  kagent tasks\n  kagent tasks show 3/9\n  kagent tasks study 3/9\n  kagent tasks study --file "
      "my_model.py\n  kagent tasks --suite ~/KernelBench");
  one->callback([options, &exit_code] { exit_code = show(*options); });
  command->callback([options, one, studied, &exit_code] {
    if (!one->parsed() && !studied->parsed()) exit_code = list(*options);
  });
}

}  // namespace kagent
