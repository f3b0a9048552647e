// A run's judging as a Slurm job array: each element judges one shard of the run's tasks (docs/cluster.md).
#pragma once

#include <string>
#include <vector>

#include "agent/base/result.h"

namespace kagent::slurm {

struct Array {
  std::string name;                  // of the job, by which it is found again: array_name()
  std::vector<std::string> command;  // what an element runs; `--shard i/n` follows
  int shards = 1;                    // n
  std::vector<int> elements;         // the shards i that have something to judge, at least one
  std::string log_folder;            // absolute: <job>_<element>.log
  std::vector<std::string> options;  // sbatch's own, without dashes: "partition=gpu", "exclusive"
};

// The same for every command on a run, and of no other run: "kagent-" and the beginning of the manifest's hash.
std::string array_name(const std::string& manifest_sha256);

// Errors: kUsage names the option that is none, or that kagent sets itself.
Status valid_options(const std::vector<std::string>& options);

// What an element runs, in bash. Every word is quoted.
std::string job_script(const Array& array);

// Returns the job's id. The job may be requeued; an element gets PATH, HOME and kagent's own variables from here and
// nothing else, no key above all. Errors: kUsage (no Slurm here; options), kIo (sbatch's own words).
Result<std::string> submit(const Array& array);

}  // namespace kagent::slurm
