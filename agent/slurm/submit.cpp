#include "agent/slurm/submit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "agent/base/file.h"
#include "agent/slurm/program.h"

namespace kagent::slurm {
namespace {

constexpr const char* kExported =
    "PATH,HOME,LANG,LD_LIBRARY_PATH,KAGENT_PYTHON,KAGENT_ROOT,KAGENT_CUDA_ROOT,KAGENT_CACHE";
constexpr const char* kOurs[] = {"array",    "parsable", "requeue", "no-requeue", "export",
                                 "job-name", "output",   "error",   "wrap"};

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string array_name(const std::string& manifest_sha256) { return "kagent-" + manifest_sha256.substr(0, 12); }

Status valid_options(const std::vector<std::string>& options) {
  for (const std::string& option : options) {
    const std::string key = option.substr(0, option.find('='));
    const bool word = !key.empty() && key[0] != '-' && std::all_of(key.begin(), key.end(), [](unsigned char c) {
      return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-';
    });
    if (!word)
      return Error{Code::kUsage, fmt::format("--slurm-option wants an option of sbatch's without dashes, such as "
                                             "partition=gpu, not {}",
                                             option)};
    if (std::find(std::begin(kOurs), std::end(kOurs), key) != std::end(kOurs))
      return Error{Code::kUsage, fmt::format("--slurm-option {}: kagent sets --{} itself", option, key)};
  }
  return Ok{};
}

std::string job_script(const Array& array) {
  std::vector<std::string> words;
  for (const std::string& word : array.command) words.push_back(quoted(word));
  // 4: what is answered is judged and more answers are awaited, as it should be.
  return fmt::format(
      "#!/bin/bash\n"
      "{} --shard \"$SLURM_ARRAY_TASK_ID/{}\" || {{ code=$?; [ $code = 4 ] || exit $code; }}\n",
      fmt::join(words, " "), array.shards);
}

Result<std::string> submit(const Array& array) {
  if (Status valid = valid_options(array.options); !valid) return valid.error();
  if (Status made = make_folder(array.log_folder); !made) return made.error();
  std::vector<std::string> argv = {"sbatch",
                                   "--parsable",
                                   "--requeue",
                                   "--job-name=" + array.name,
                                   fmt::format("--array={}", fmt::join(array.elements, ",")),
                                   "--output=" + array.log_folder + "/%A_%a.log",
                                   "--open-mode=append",  // a requeued element goes on in its log
                                   std::string("--export=") + kExported};
  for (const std::string& option : array.options) argv.push_back("--" + option);
  Result<std::string> printed = run_program(argv, job_script(array));
  if (!printed && printed.error().code == Code::kNotFound)
    return Error{Code::kUsage,
                 "there is no sbatch here: --slurm needs Slurm's commands on PATH, as on a cluster's "
                 "login node; without --slurm this machine judges"};
  if (!printed) return printed.error();
  // "123" or "123;cluster"
  const std::string id = printed.value().substr(0, printed.value().find_first_of(";\n"));
  if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos)
    return Error{Code::kIo, "sbatch did not say which job it made"};
  return id;
}

}  // namespace kagent::slurm
