#include "agent/command/options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include "agent/base/printable.h"
#include "agent/command/commands.h"
#include "agent/command/print.h"
#include "agent/judge/device_facts.h"
#include "agent/judge/gpus.h"

namespace kagent {
namespace {

std::string blank_problem(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") != std::string::npos ? "" : "is empty; give a name, or leave the option out";
}

template <typename T>
std::optional<T> number_of(const std::string& text) {
  T number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::string shown(const std::string& text) { return "\"" + printable(text.substr(0, 60)) + "\""; }

std::string real_problem(const std::string& text) {
  const auto number = number_of<double>(text);
  return number && std::isfinite(*number) ? "" : shown(text) + " is no number; give one such as 0.5";
}

}  // namespace

CLI::Validator whole_between(int low, int high) {
  const std::string range = fmt::format("{} to {}", low, high);
  return {[=](const std::string& text) {
            const auto number = number_of<std::int64_t>(text);
            if (!number) return fmt::format("{} is no whole number in reach; give {}", shown(text), range);
            return *number >= low && *number <= high ? "" : fmt::format("{} is out of range; give {}", *number, range);
          },
          range, "whole number"};
}

CLI::Validator real_number() { return {real_problem, "", "number"}; }

CLI::Validator us_dollars() {
  return {[](const std::string& text) {
            const auto number = number_of<double>(text);
            const bool good = number && std::isfinite(*number) && *number > 0;
            return good ? "" : shown(text) + " is no budget; give a number of US dollars above 0, such as 20";
          },
          "above 0", "US dollars"};
}

CLI::Validator not_blank() {
  return {[](const std::string& text) { return blank_problem(text); }, "", "not blank"};
}

void add_task_options(CLI::App& command, TaskOptions& options) {
  command.add_option("--task", options.task, "level/problem, e.g. 3/9 (`kagent tasks` lists them)")->type_name("TASK");
  command
      .add_option("--suite", options.suite,
                  "a KernelBench or KernelBench-Verified checkout instead of the built-in tasks")
      ->type_name("DIR")
      ->check(not_blank());
  command
      .add_option("--file", options.file,
                  "one KernelBench-format file of your own (Model, get_inputs, get_init_inputs)")
      ->type_name("FILE")
      ->check(not_blank());
  command.add_flag("--small", options.small,
                   "the task's small form (tasks/manifest.json): for machines without a GPU; never counts");
}

TaskSource task_source(const TaskOptions& options, const Installation& installation) {
  return {installation.root + "/tasks", options.suite, options.file,
          options.small ? installation.cache + "/small" : std::string()};
}

std::string gpu_name_problem(const std::string& text) {
  const bool index = !text.empty() && text.size() < 4 && text.find_first_not_of("0123456789") == std::string::npos;
  if (index || text.starts_with("GPU-") || text.starts_with("MIG-")) return "";
  return "wants a number such as 0, or a UUID as nvidia-smi -L prints it, not " + name_text(text);
}

void add_gpu_option(CLI::App& command, std::string& gpu) {
  command.add_option("--gpu", gpu, "which GPU, as CUDA_VISIBLE_DEVICES counts (default: the first)")
      ->type_name("N")
      ->check(CLI::Validator([](const std::string& text) { return gpu_name_problem(text); }, "", "gpu"));
}

std::string gpu_or_first(const std::string& gpu) {
  if (!gpu.empty()) return gpu;
  const std::vector<std::string> visible = visible_gpus();
  return visible.empty() ? "0" : visible.front();
}

void add_judge_options(CLI::App& command, JudgeOptions& options, Gpus gpus) {
  command
      .add_option(
          "--backend", options.backend,
          "cuda; emulate: kernels on the CPU, correctness only; none: compile and validate only; auto: cuda where "
          "there is a GPU, else emulate")
      ->check(CLI::IsMember({"auto", "cuda", "emulate", "none"}))
      ->capture_default_str();
  if (gpus == Gpus::kOne) add_gpu_option(command, options.gpu);
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
  settings.crew.gpu = gpu_or_first(options.gpu);
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
  print_text(stderr, "kagent: {}\n", printable(error.message));
  return kExitError;
}

}  // namespace kagent
