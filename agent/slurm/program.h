// Runs one of Slurm's programs and takes what it prints.
#pragma once

#include <string>
#include <vector>

#include "agent/base/result.h"

namespace kagent::slurm {

// What the program printed on stdout. It is looked for on PATH and gets `input` on stdin; it is ended after `most_s`
// seconds. Errors: kNotFound (no such program here), kTimeout, kIo (it failed: the first line that it said on stderr).
Result<std::string> run_program(const std::vector<std::string>& argv, const std::string& input, double most_s = 60);

}  // namespace kagent::slurm
