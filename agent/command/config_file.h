// --config FILE: settings from a file (agent/base/settings_text.h), put behind those of the command line, which go
// before them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "agent/base/result.h"

namespace kagent {

// `arguments`: without the program's name. Each `name = value` of the file becomes --name=value of the sub-command,
// unless the command line has --name, or says in another way what that setting says: which tasks. Errors, each "FILE:
// LINE: ...": kParse (the file, a value's type), kUsage (no such setting: the nearest is named; no such value). Also
// kNotFound, kIo.
Result<std::vector<std::string>> with_config(CLI::App& program, std::vector<std::string> arguments);

}  // namespace kagent
