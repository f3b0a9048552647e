// Runs the program that stands beside the test.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

namespace kagent {

struct Outcome {
  std::string text;  // stdout and stderr
  int exit_code = -1;
};

inline Outcome run_command(const std::string& command) {
  Outcome outcome;
  FILE* pipe = ::popen((command + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;) outcome.text.append(part.data(), n);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

inline std::string kagent_program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "kagent").string();
}

inline Outcome run_kagent(const std::string& arguments) { return run_command(kagent_program() + " " + arguments); }

// For arguments such as $'\\e'; they hold no double quotes.
inline Outcome run_kagent_in_bash(const std::string& arguments) {
  return run_command("bash -c \"exec " + kagent_program() + " " + arguments + "\"");
}

}  // namespace kagent
