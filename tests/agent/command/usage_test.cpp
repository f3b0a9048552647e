// Wrong uses of the program: one line that says what was wrong and what to do, exit code 2, nothing on stdout.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <string>

namespace kagent {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  std::string text;  // stdout and stderr
  int exit_code = -1;
};

Outcome run_kagent(const std::string& arguments) {
  Outcome outcome;
  // The program stands beside its test.
  const std::string program = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "kagent").string();
  FILE* pipe = ::popen((program + " " + arguments + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;) outcome.text.append(part.data(), n);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

struct WrongUse {
  const char* arguments;
  const char* says;
};

void PrintTo(const WrongUse& use, std::ostream* out) { *out << use.arguments; }

class Usage : public ::testing::TestWithParam<WrongUse> {};

TEST_P(Usage, IsOneLineThatSaysWhatToDo) {
  const Outcome outcome = run_kagent(GetParam().arguments);
  EXPECT_EQ(outcome.exit_code, 2) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr(GetParam().says));
  EXPECT_EQ(outcome.text.find('\n'), outcome.text.size() - 1) << outcome.text;
}

INSTANTIATE_TEST_SUITE_P(
    Wrong, Usage,
    ::testing::Values(WrongUse{"", "kagent: A subcommand is required; --help shows how"},
                      WrongUse{"frobnicate", "unknown command 'frobnicate'; the commands are solve, judge, show"},
                      WrongUse{"solv --task 3/4", "unknown command 'solv'; did you mean solve?"},
                      WrongUse{"log verfy runs/x", "unknown command 'verfy'; did you mean verify?"},
                      WrongUse{"tasks shw 3/4", "unknown command 'shw'; did you mean show?"},
                      WrongUse{"judge --task 3/4", "--answer is required; --help shows how"},
                      WrongUse{"judge --task 3/4 --anwser x.md", "did you mean --answer?"},
                      WrongUse{"solve --task 3/4 --model nosuch:model", "nosuch"},
                      WrongUse{"solve --task 3/99 --model anthropic:m", "3/99"},
                      WrongUse{"judge --task 3/4 --answer /nonexistent/answer.md", "/nonexistent/answer.md"},
                      WrongUse{"judge --task 3/4 --answer /", "/"},
                      WrongUse{"show /nonexistent/run", "/nonexistent/run"},
                      WrongUse{"log verify /nonexistent/run", "/nonexistent/run"}));

TEST(Help, NamesEveryCommand) {
  const Outcome outcome = run_kagent("--help");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* command : {"solve", "judge", "show", "tasks", "log", "doctor"}) {
    EXPECT_THAT(outcome.text, HasSubstr(command));
  }
}

}  // namespace
}  // namespace kagent
