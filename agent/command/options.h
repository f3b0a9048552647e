// Options that several sub-commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "agent/base/result.h"
#include "agent/judge/judge.h"
#include "agent/task/task.h"

namespace kagent {

// Refuses "" and blanks, as a script's variable that is not set leaves them: they name no place.
CLI::Validator not_blank();
// Refuse what is no such number, and say which ones may stand there.
CLI::Validator whole_between(int low, int high);
CLI::Validator real_number();
CLI::Validator us_dollars();

// Which task: --task 3/9, --suite DIR, --file my_model.py.
struct TaskOptions {
  std::string task;
  std::string suite;
  std::string file;
  bool small = false;
};
void add_task_options(CLI::App& command, TaskOptions& options);
TaskSource task_source(const TaskOptions& options, const Installation& installation);

// --gpu N or a UUID.
void add_gpu_option(CLI::App& command, std::string& gpu);

// What --gpu says, or the first that this process may use.
std::string gpu_or_first(const std::string& gpu);

// How to judge: --backend, --gpu, --arch, --no-profile.
struct JudgeOptions {
  std::string backend = "auto";
  std::string gpu;  // "": the first that this process may use
  std::string arch;
  bool no_profile = false;
  bool check = false;
  bool all_rules = false;
};
enum class Gpus { kOne, kMany };  // kMany: the command has its own option for them
void add_judge_options(CLI::App& command, JudgeOptions& options, Gpus gpus = Gpus::kOne);
// "" if a text names a GPU as --gpu takes it, else what is wrong.
std::string gpu_name_problem(const std::string& text);

// Errors: kUsage (cuda asked for on a machine without a GPU).
Result<JudgeSettings> judge_settings(const JudgeOptions& options, const TaskOptions& task,
                                     const std::string& task_file);

// Prints "kagent: message" on stderr and returns kExitError.
int fail(const Error& error);

}  // namespace kagent
