// --config FILE: settings from a TOML file, put behind those of the command line, which go before them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "agent/base/result.h"

namespace kagent {

// `arguments`: without the program's name. Each `name = value` of the file becomes --name=value of the sub-command,
// unless the command line has --name. Errors: kNotFound, kParse, kUsage (no such setting: the nearest is named).
Result<std::vector<std::string>> with_config(const CLI::App& program, std::vector<std::string> arguments);

}  // namespace kagent
