#include "agent/command/options.h"

#include <fmt/format.h>

#include <cstdio>

#include "agent/base/printable.h"
#include "agent/command/commands.h"
#include "agent/judge/device_facts.h"

namespace kagent {

void add_task_options(CLI::App& command, TaskOptions& options) {
  command.add_option("--task", options.task, "level/problem, e.g. 3/9 (`kagent tasks` lists them)")->type_name("TASK");
  command
      .add_option("--suite", options.suite,
                  "a KernelBench or KernelBench-Verified checkout instead of the built-in tasks")
      ->type_name("DIR");
  command
      .add_option("--file", options.file,
                  "one KernelBench-format file of your own (Model, get_inputs, get_init_inputs)")
      ->type_name("FILE");
  command.add_flag("--small", options.small,
                   "the task's small form (tasks/manifest.json): for machines without a GPU; never counts");
}

TaskSource task_source(const TaskOptions& options, const Installation& installation) {
  return {installation.root + "/tasks", options.suite, options.file,
          options.small ? installation.cache + "/small" : std::string()};
}

void add_gpu_option(CLI::App& command, std::string& gpu) {
  const auto is_gpu = [](const std::string& text) -> std::string {
    const bool index = !text.empty() && text.size() < 4 && text.find_first_not_of("0123456789") == std::string::npos;
    if (index || text.starts_with("GPU-") || text.starts_with("MIG-")) return "";
    return "wants a number such as 0, or a UUID as nvidia-smi -L prints it, not " + text;
  };
  command.add_option("--gpu", gpu, "which GPU, as CUDA_VISIBLE_DEVICES counts")
      ->type_name("N")
      ->check(CLI::Validator(is_gpu, "", "gpu"))
      ->capture_default_str();
}

void add_judge_options(CLI::App& command, JudgeOptions& options) {
  command
      .add_option(
          "--backend", options.backend,
          "cuda; emulate: kernels on the CPU, correctness only; none: compile and validate only; auto: cuda where "
          "there is a GPU, else emulate")
      ->check(CLI::IsMember({"auto", "cuda", "emulate", "none"}))
      ->capture_default_str();
  add_gpu_option(command, options.gpu);
  command.add_option("--arch", options.arch, "compile for this architecture, e.g. sm_90a (default: the GPU's own)")
      ->type_name("ARCH");
  command.add_flag("--check", options.check, "emulate: look at every memory access from the start (slow)");
  command.add_flag("--all-rules", options.all_rules,
                   "emulate: also the rules beyond the official check, which a GPU always gets (some 25 more calls)");
  command.add_flag("--no-profile", options.no_profile, "skip the CUPTI profile");
}

Result<JudgeSettings> judge_settings(const JudgeOptions& options, const TaskOptions& task,
                                     const std::string& task_file) {
  const bool gpu = machine_has_gpu();
  if (options.backend == "cuda" && !gpu) {
    return Error{Code::kUsage,
                 "--backend cuda, but this machine shows no NVIDIA GPU; leave --backend out, or run `kagent doctor`"};
  }
  if (!options.arch.empty()) {
    if (const auto facts = device_facts(options.arch); !facts) return facts.error();
  }
  JudgeSettings settings;
  settings.crew.task_file = task_file;
  settings.crew.gpu = options.gpu;
  settings.crew.backend = options.backend != "auto" ? options.backend : gpu ? "cuda" : "emulate";
  if (task.small && settings.crew.backend == "cuda")
    return Error{Code::kUsage, "--small is for machines without a GPU: leave it out, or add --backend emulate"};
  settings.checking = options.check;
  if (options.check && settings.crew.backend != "emulate")
    return Error{Code::kUsage, "--check is for emulated kernels: add --backend emulate"};
  settings.all_rules = options.all_rules || settings.crew.backend == "cuda";
  settings.crew.arch = options.arch;
  settings.profile = !options.no_profile;
  return settings;
}

int fail(const Error& error) {
  fmt::print(stderr, "kagent: {}\n", printable(error.message));
  return kExitError;
}

}  // namespace kagent
