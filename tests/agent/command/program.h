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

inline Outcome run_kagent(const std::string& arguments) {
  Outcome outcome;
  const std::string program = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "kagent").string();
  FILE* pipe = ::popen((program + " " + arguments + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;) outcome.text.append(part.data(), n);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

}  // namespace kagent
