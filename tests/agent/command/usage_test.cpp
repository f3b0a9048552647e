// Wrong uses of the program: one line that says what was wrong and what to do, exit code 2, nothing on stdout.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>

#include "tests/agent/command/program.h"

namespace kagent {
namespace {

using ::testing::HasSubstr;

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
    ::testing::Values(
        WrongUse{"", "kagent: A subcommand is required; --help shows how"},
        WrongUse{"frobnicate",
                 "unknown command 'frobnicate'; the commands are solve, run, generate, judge-run, judge, show"},
        WrongUse{"solv --task 3/4", "unknown command 'solv'; did you mean solve?"},
        WrongUse{"log verfy runs/x", "unknown command 'verfy'; did you mean verify?"},
        WrongUse{"tasks shw 3/4", "unknown command 'shw'; did you mean show?"},
        WrongUse{"judge --task 3/4", "--answer is required; --help shows how"},
        WrongUse{"judge --task 3/4 --anwser x.md", "unknown option --anwser; did you mean --answer?"},
        WrongUse{"judge --answr x.md", "unknown option --answr; did you mean --answer?"},
        WrongUse{"tasks show 3/4 --qwertyuiop", "unknown option --qwertyuiop; --help lists them"},
        WrongUse{"solve --task 3/4 --model nosuch:model", "nosuch"},
        WrongUse{"solve --task 3/99 --model anthropic:m", "3/99"},
        WrongUse{"solve --task 3/1,3/9 --model spool:x", "give one task, not 3/1,3/9; `kagent run --tasks 3/1,3/9`"},
        WrongUse{"judge --task 3/1,3/9 --answer x.md", "give one task, not 3/1,3/9"},
        WrongUse{"judge --task 3/4 --answer /nonexistent/answer.md", "/nonexistent/answer.md"},
        WrongUse{"judge --task 3/4 --answer /", "/"}, WrongUse{"show /nonexistent/run", "/nonexistent/run"},
        WrongUse{"log verify /nonexistent/run", "/nonexistent/run"},
        WrongUse{"log merge /nonexistent/run /nonexistent/copy", "/nonexistent/run"},
        WrongUse{"replay /nonexistent/run", "/nonexistent/run"}, WrongUse{"audit /nonexistent/run", "/nonexistent/run"},
        WrongUse{"audit runs/x --judge spool:x --no-judges", "--judge excludes --no-judges"},
        WrongUse{"audit", "run is required; --help shows how"},
        WrongUse{"baselines", "which tasks? give --level 3, or --tasks 3/1,3/9"},
        WrongUse{"baselines --file x --task 3/4", "--file is a task of its own"},
        WrongUse{"run --run '' --level 3 --model spool:x", "--run: is empty; give a name"},
        WrongUse{"solve --task 3/4 --model spool:x --run ' '", "--run: is empty; give a name"},
        WrongUse{"judge --task 3/4 --answer x.md --run ''", "--run: is empty; give a name"},
        WrongUse{"judge --task 3/4 --answer x.md --suite ''", "--suite: is empty; give a name"},
        WrongUse{"judge-run ''", "run: is empty; give a name"}, WrongUse{"show ''", "run: is empty; give a name"},
        WrongUse{"score ''", "run: is empty; give a name"}, WrongUse{"replay ''", "run: is empty; give a name"},
        WrongUse{"log verify ' '", "run: is empty; give a name"}, WrongUse{"audit ''", "run: is empty; give a name"},
        WrongUse{"log merge '' x", "run: is empty; give a name"},
        WrongUse{"run --run x --tasks '' --model spool:x", "--tasks holds an empty name"},
        // Not the next word as the value.
        WrongUse{"run --run= --level 3 --model spool:x", "--run= has no value; write --run=VALUE, or leave it out"},
        WrongUse{"run --run x --tasks= 3/1 --model spool:x", "--tasks= has no value"},
        WrongUse{"solve --task 3/4 --model= spool:x", "--model= has no value"},
        WrongUse{"judge --task 3/4 --answer= x.md", "--answer= has no value"},
        WrongUse{"score runs/x --csv= out", "--csv= has no value"},
        WrongUse{"log verify runs/x --head= abc", "--head= has no value"},
        WrongUse{"run --config= x.toml", "--config= has no value"},
        WrongUse{"run --run x --level 3 --model spool:x --samples 0", "--samples: 0 is out of range; give 1 to 5"},
        WrongUse{"run --run x --level 3 --model spool:x --samples 9", "--samples: 9 is out of range; give 1 to 5"},
        WrongUse{"run --run x --level 3 --model spool:x --samples two",
                 "\"two\" is no whole number in reach; give 1 to 5"},
        WrongUse{"run --run x --level 0 --model spool:x", "--level: 0 is out of range; give 1 to 4"},
        WrongUse{"run --run x --level 3 --model spool:x --in-flight 999",
                 "--in-flight: 999 is out of range; give 1 to 256"},
        WrongUse{"run --run x --level 3 --model spool:x --budget-usd 0",
                 "--budget-usd: \"0\" is no budget; give a number of US dollars above 0"},
        WrongUse{"run --run x --level 3 --model spool:x --budget-usd abc",
                 "--budget-usd: \"abc\" is no budget; give a number of US dollars above 0"},
        WrongUse{"solve --task 3/9 --run /nonexistent/x --model replay:" KAGENT_SOURCE_DIR "/runs/3-4-claude",
                 "holds no reply for 3/9; its tasks: 3/4"},
        WrongUse{"solve --task 3/4 --model spool:x --max-tokens 99999999999",
                 "--max-tokens: 99999999999 is out of range; give 1 to"},
        WrongUse{"solve --task 3/4 --model spool:x --temperature hot",
                 "--temperature: \"hot\" is no number; give one such as 0.5"}));

// What a name holds is shown and never obeyed, wherever it comes back.
TEST(Usage, NamesNeverReachATerminalRaw) {
  const std::string odd = "$'x\\e[31m\\x9b\\x07\\ny'";
  for (const std::string& words :
       {"show " + odd,
        "score " + odd,
        "replay " + odd,
        "log verify " + odd,
        "audit " + odd,
        "report " + odd,
        "judge-run " + odd,
        "log merge " + odd + " x",
        "tasks show " + odd,
        "tasks show " + odd + " --json",
        odd,
        "tasks " + odd,
        "tasks --suite " + odd,
        "solve --task " + odd + " --model spool:x",
        "run --run x --tasks " + odd + " --model spool:x --dry-run",
        "run --run " + odd + " --tasks 3/1 --model nosuch:" + odd + " --dry-run --backend none",
        "run --run x --tasks 3/1 --model " + odd + " --dry-run --backend none",
        "run --run x --tasks 3/1 --model spool:x --dry-run --prompt-set " + odd,
        "run --run x --tasks 3/1 --model spool:x --protocol " + odd,
        "run --run x --level " + odd + " --model spool:x",
        "run --run x --tasks 3/1 --model spool:x --config " + odd,
        "run --run x --odd" + odd,
        "judge --task 3/4 --answer " + odd,
        "judge --file " + odd + " --answer x.md",
        "show " KAGENT_SOURCE_DIR "/runs/3-4-claude " + odd,
        "judge-run x --shard " + odd,
        "judge-run x --gpus " + odd,
        "replay " KAGENT_SOURCE_DIR "/runs/3-4-claude --task " + odd}) {
    const Outcome outcome = run_kagent_in_bash(words);
    EXPECT_EQ(outcome.exit_code, 2) << words << "\n" << outcome.text;
    const auto raw = std::count_if(outcome.text.begin(), outcome.text.end(), [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == '\x7f' || c == '\x9b';
    });
    EXPECT_EQ(raw, 0) << words << "\n" << outcome.text;
    EXPECT_EQ(outcome.text.find("\ny"), std::string::npos) << words << "\n" << outcome.text;
  }
}

// An accepted and faster answer in narrower arithmetic.
TEST(Show, SaysThatASampleInTierAnyDoesNotCount) {
  const Outcome outcome = run_kagent("show " KAGENT_SOURCE_DIR "/runs/pilot 3/34");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.text, HasSubstr("3/34: accepted and faster, but does not count (tier any)\n"));
  EXPECT_THAT(outcome.text, HasSubstr("  precision: uses "));
  EXPECT_THAT(run_kagent("show " KAGENT_SOURCE_DIR "/runs/pilot 3/36").text, HasSubstr("3/36: accepted and faster\n"));
  // Verdicts of older versions say nothing of it.
  EXPECT_THAT(run_kagent("show " KAGENT_SOURCE_DIR "/runs/3-4-claude").text, HasSubstr("3/4: accepted and faster\n"));
}

// `first` is runs/first for what writes a run and for what reads one.
TEST(RunNames, MeanTheSameFolderToEveryCommand) {
  namespace fs = std::filesystem;
  const std::string folder = (fs::temp_directory_path() / ("kagent-names-" + std::to_string(::getpid()))).string();
  fs::remove_all(folder);
  fs::create_directories(folder + "/runs");
  std::ofstream(folder + "/answer.md") << "no code\n";
  fs::copy(KAGENT_SOURCE_DIR "/runs/3-4-claude", folder + "/runs/old", fs::copy_options::recursive);
  const auto here = [&](const std::string& words) {
    return run_command("cd " + folder + " && " + kagent_program() + " " + words);
  };
  EXPECT_EQ(here("judge --task 3/4 --answer answer.md --run mine").exit_code, 1);
  EXPECT_TRUE(fs::exists(folder + "/runs/mine/manifest.json"));
  EXPECT_EQ(here("show mine").exit_code, 0);
  EXPECT_EQ(here("log merge mine mine").exit_code, 0);
  const Outcome replay = here("solve --task 3/9 --model replay:old --run never");
  EXPECT_EQ(replay.exit_code, 2);
  EXPECT_THAT(replay.text, HasSubstr("--model replay:old: this run holds no reply for 3/9; its tasks: 3/4"));
  EXPECT_FALSE(fs::exists(folder + "/runs/never"));
  fs::remove_all(folder);
}

TEST(TasksStudy, IsReadableInATerminal) {
  const std::filesystem::path library = "../lib/libkagent_harness.so";
  if (!std::filesystem::exists(std::filesystem::path(kagent_program()).parent_path() / library))
    GTEST_SKIP() << "needs the harness";
  const Outcome outcome = run_kagent("tasks study 3/9");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  std::istringstream lines(outcome.text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

class RunsElsewhere : public ::testing::Test {
 protected:
  RunsElsewhere() { std::filesystem::create_directories(folder_); }
  ~RunsElsewhere() override { std::filesystem::remove_all(folder_); }
  Outcome here(const std::string& words) {
    return run_command("cd " + folder_ + " && KAGENT_ROOT=" KAGENT_SOURCE_DIR " " + kagent_program() + " " + words);
  }

  const std::string folder_ = std::filesystem::weakly_canonical(std::filesystem::temp_directory_path() /
                                                                ("kagent-elsewhere-" + std::to_string(::getpid())));
};

TEST_F(RunsElsewhere, AreReadOfTheCheckoutByName) {
  for (const char* words : {"show 3-4-claude", "show runs/3-4-claude", "score 3-4-claude", "log verify 3-4-claude"})
    EXPECT_EQ(here(words).exit_code, 0) << words;
}

TEST_F(RunsElsewhere, AreNotChangedByName) {
  const Outcome outcome = here("judge-run pilot");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.text,
              HasSubstr("no run in " + folder_ +
                        "/runs/pilot; there is one in " KAGENT_SOURCE_DIR "/runs/pilot: give that path\n"));
}

TEST_F(RunsElsewhere, AMistypedNameSaysWhereItWasLookedForAndTheNearest) {
  const std::string both = "no run in " + folder_ + "/runs/piolt or " KAGENT_SOURCE_DIR "/runs/piolt; ";
  EXPECT_THAT(here("score piolt").text, HasSubstr(both + "did you mean pilot?\n"));
  EXPECT_THAT(here("show a-run-far-from-all").text, HasSubstr("; give the run's path, or call from the folder"));
}

TEST_F(RunsElsewhere, ADefaultNameIsShortAndResumes) {
  std::filesystem::create_directories(folder_ + "/some/answers");
  std::filesystem::copy(KAGENT_SOURCE_DIR "/docs/example/my_model.py", folder_ + "/my_model.py");
  const std::string solve = "solve --file my_model.py --backend none --no-wait --model ";
  EXPECT_EQ(here(solve + "spool:some/answers/").exit_code, 4);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/runs/my_model-spool-answers/manifest.json"));
  // The name that it had before is found again.
  std::filesystem::rename(folder_ + "/runs/my_model-spool-answers",
                          folder_ + "/runs/file-my_model-spool-some-answers-");
  EXPECT_EQ(here(solve + "spool:some/answers/").exit_code, 4);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/runs/my_model-spool-answers"));
}

TEST(Help, NamesEveryCommand) {
  const Outcome outcome = run_kagent("--help");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* command : {"solve", "judge", "show", "tasks", "log", "replay", "audit", "doctor"}) {
    EXPECT_THAT(outcome.text, HasSubstr(command));
  }
}

}  // namespace
}  // namespace kagent
