// What people are shown. Names of runs, tasks, models and files may hold anything: a terminal gets what it can show,
// never what it would obey. JSON for programs is printed as it is: pretty() (agent/base/json_text.h) escapes.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "agent/base/printable.h"

namespace kagent {

template <typename... T>
void print_text(std::FILE* out, fmt::format_string<T...> format, T&&... args) {
  fmt::print(out, "{}", printable_lines(fmt::format(format, std::forward<T>(args)...)));
}

// A stored text (a prompt, an answer, a task's file): a pipe gets its bytes.
inline void print_stored(const std::string& text) {
  fmt::print("{}", ::isatty(STDOUT_FILENO) != 0 ? printable_lines(text) : text);
}

}  // namespace kagent
