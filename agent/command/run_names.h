// Runs by name: which folder "pilot" means, and what to say where it means none.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "agent/base/result.h"
#include "agent/run/run_directory.h"

namespace kagent {

// A run's folder: a bare name means runs/NAME unless such a folder is here.
std::string run_folder(const std::string& text);
// The same for a run that is only read: a name that means none here means that run of the kagent checkout, if it is
// there.
std::string run_folder_to_read(const std::string& text);

// Where `solve` keeps a run without a name, so that the same command finds it again: "runs/3-9-anthropic-NAME". Of
// paths the last part is taken: runs/my_model-spool-answers for file/my_model and spool:some/where/answers.
std::string default_run_folder(const std::string& task_id, const std::string& model);

// RUN, the first argument of what works on a run: a folder, or a name in runs/.
enum class RunUse { kRead, kChange };
void add_run_argument(CLI::App& command, std::string& run, RunUse use);

// The run in such a folder. Errors: kNotFound says where it was looked for and which run may be meant; kParse.
Result<run::RunDirectory> open_run_folder(const std::string& folder);

}  // namespace kagent
