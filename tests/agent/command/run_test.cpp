// A whole level with stub answers, as a user runs it: killed, resumed, split into halves.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/agent/command/program.h"

namespace kagent {
namespace {

namespace fs = std::filesystem;

class RunCommand : public ::testing::Test {
 protected:
  RunCommand() {
    fs::remove_all(folder_);
    fs::create_directories(spool_);
  }
  ~RunCommand() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string run_level(const std::string& more = "") const {
    return "run --level 3 --small --samples 2 --in-flight 50 --backend emulate --no-wait --model spool:" + spool_ +
           " --run " + run_ + " " + more;
  }
  // Every prompt that has none gets an answer without code, which needs no judge.
  int answer_all() const {
    int answered = 0;
    for (const auto& entry : fs::directory_iterator(spool_)) {
      std::string path = entry.path().string();
      const std::size_t end = path.rfind(".prompt.md");
      if (end == std::string::npos) continue;
      path.replace(end, std::string::npos, ".answer.md");
      if (fs::exists(path)) continue;
      std::ofstream(path) << "I cannot do this one.\n";
      fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(10));  // it is whole
      ++answered;
    }
    return answered;
  }

  std::string folder_ = (fs::temp_directory_path() / ("kagent-run-" + std::to_string(::getpid()))).string();
  std::string spool_ = folder_ + "/spool";
  std::string run_ = folder_ + "/run";
};

TEST_F(RunCommand, WritesAllPromptsThenTakesAllAnswersRoundAfterRound) {
  EXPECT_EQ(run_kagent(run_level()).exit_code, 4);
  EXPECT_EQ(answer_all(), 50);
  EXPECT_EQ(run_kagent(run_level()).exit_code, 4);
  EXPECT_EQ(answer_all(), 50);  // the second samples, which see the first verdicts
  const Outcome last = run_kagent(run_level());
  EXPECT_EQ(last.exit_code, 0) << last.text;
  EXPECT_NE(last.text.find("50/50 tasks done, 0 accepted, fast_1 0/50, 100 samples judged"), std::string::npos)
      << last.text;
  const Outcome verified = run_kagent("log verify " + run_);
  EXPECT_EQ(verified.exit_code, 0) << verified.text;
  EXPECT_NE(verified.text.find("50 tasks"), std::string::npos) << verified.text;
  EXPECT_EQ(run_kagent(run_level()).exit_code, 0);  // a finished run asks nothing
  EXPECT_EQ(answer_all(), 0);
}

TEST_F(RunCommand, APromptThatStandsIsAskedOnceHoweverOftenItsAnswerIsLookedFor) {
  const std::string words =
      "run --tasks 3/1,3/2 --small --samples 1 --backend emulate --no-wait --model spool:" + spool_ + " --run " + run_;
  for (int look = 0; look < 3; ++look) EXPECT_EQ(run_kagent(words).exit_code, 4);
  const Outcome scored = run_kagent("score " + run_);
  EXPECT_NE(scored.text.find("replies 0, requests 2;"), std::string::npos) << scored.text;
  EXPECT_EQ(run_kagent("show " + run_).text.find("asked 3 times"), std::string::npos);
}

TEST_F(RunCommand, IndependentPromptsOfAllSamplesAreWrittenByOneCall) {
  const std::string words =
      "run --tasks 3/1,3/2 --small --samples 3 --protocol independent --backend emulate --no-wait --model spool:" +
      spool_ + " --run " + run_;
  EXPECT_EQ(run_kagent(words).exit_code, 4);
  EXPECT_EQ(answer_all(), 6);
  EXPECT_EQ(run_kagent(words).exit_code, 0);
  EXPECT_EQ(run_kagent("log verify " + run_).exit_code, 0);
}

TEST_F(RunCommand, TheSameTasksInAnotherOrderOrTwiceAreTheSameRun) {
  const auto go = [&](const std::string& tasks) {
    return run_kagent("run --tasks " + tasks +
                      " --small --samples 1 --backend emulate --no-wait --model spool:" + spool_ + " --run " + run_);
  };
  EXPECT_NE(go("3/1,3/2,3/1").text.find("0/2 tasks done"), std::string::npos);
  const Outcome again = go("3/2,3/1");
  EXPECT_EQ(again.exit_code, 4) << again.text;
  EXPECT_EQ(answer_all(), 2);
  EXPECT_EQ(go("3/2,3/2,3/1").exit_code, 0);
  EXPECT_EQ(run_kagent("judge-run " + run_ + " --tasks 3/2,3/2 --backend emulate").exit_code, 0);
  EXPECT_EQ(go("3/2").exit_code, 2);
}

TEST_F(RunCommand, ARunOfSmallFormsIsReplayed) {
  const std::string words =
      "run --tasks 3/1 --small --samples 1 --backend none --no-wait --model spool:" + spool_ + " --run " + run_;
  EXPECT_EQ(run_kagent(words).exit_code, 4);
  EXPECT_EQ(answer_all(), 1);
  EXPECT_EQ(run_kagent(words).exit_code, 0);
  const Outcome replayed = run_kagent("replay " + run_ + " --backend none");
  EXPECT_EQ(replayed.exit_code, 0) << replayed.text;
  EXPECT_EQ(replayed.text.find("the log's copy"), std::string::npos) << replayed.text;
}

// All that a real run would stop at before its first request.
TEST_F(RunCommand, ADryRunStopsAtWhatTheRunWouldStopAt) {
  const std::string good = " --no-wait --model spool:" + spool_ + " --run " + run_ + " --samples 1 ";
  ASSERT_EQ(run_kagent("generate --tasks 3/1" + good).exit_code, 4);
  const std::string other = folder_ + "/other";
  const std::string model = " --dry-run --model spool:" + folder_ + "/never --run " + other + " ";
  for (const auto& [words, says] : std::vector<std::pair<std::string, std::string>>{
           {"--tasks 3/99" + model, "there is no task 3/99; level 3 has 3/1 to 3/50"},
           {"--tasks 3/1 --prompt-set nope" + model, "no prompt set nope under "},
           {"--tasks 3/1 --suite /nonexistent" + model, "no folder /nonexistent"},
           {"--tasks 3/1 --config /nonexistent.toml" + model, "cannot read /nonexistent.toml"},
           {"--tasks 3/1 --extra 7" + model, "no JSON object"},
           {"--tasks 3/1 --budget-usd 3" + model, "--budget-usd needs the model's price"},
           {"--tasks 3/1 --dry-run --model nosuch:m --run " + other, "there is no provider \"nosuch\""},
           {"--tasks 3/1 --dry-run --model anthropic --run " + other, "lacks its provider"},
           {"--tasks 3/1 --dry-run --model replay:/nonexistent --run " + other,
            "no run in /nonexistent; give the run's path"},
           {"--tasks 3/1 --dry-run --model openai:m --base-url ftp://x --run " + other, "ftp"},
           {"--tasks 3/2 --dry-run" + good, "is a run with another tasks"}}) {
    for (const std::string& command : {std::string("run --backend none "), std::string("generate ")}) {
      const Outcome outcome = run_kagent(command + words);
      EXPECT_EQ(outcome.exit_code, 2) << command << words;
      EXPECT_NE(outcome.text.find("kagent: "), std::string::npos) << outcome.text;
      EXPECT_NE(outcome.text.find(says), std::string::npos) << outcome.text;
    }
  }
  const Outcome solve = run_kagent("solve --task 3/1 --dry-run --model nosuch:m --backend none");
  EXPECT_EQ(solve.exit_code, 2);
  EXPECT_NE(solve.text.find("there is no provider \"nosuch\""), std::string::npos) << solve.text;
  EXPECT_EQ(run_kagent("solve --task 3/1 --dry-run --backend none --model spool:x --run " + run_).exit_code, 2);
  EXPECT_EQ(run_kagent("run --tasks 3/1 --backend none" + model).exit_code, 0);
  EXPECT_EQ(run_kagent("generate --tasks 3/1 --dry-run" + good).exit_code, 0);  // it would go on
  EXPECT_FALSE(fs::exists(other));
  EXPECT_FALSE(fs::exists(folder_ + "/never"));
}

TEST_F(RunCommand, ShowNamesTheCommandThatGoesOn) {
  const std::string more = " --samples 1 --no-wait --model spool:" + spool_ + " --run " + run_;
  for (const auto& [words, says] : std::vector<std::pair<std::string, std::string>>{
           {"run --tasks 3/1 --small --backend emulate", "the same run command goes on"},
           {"generate --tasks 3/1", "the same generate (or judge-run) command goes on"},
           {"solve --task 3/1 --backend none", "the same solve command goes on"}}) {
    fs::remove_all(run_);
    fs::remove_all(spool_);
    ASSERT_EQ(run_kagent(words + more).exit_code, 4) << words;
    const Outcome shown = run_kagent("show " + run_);
    EXPECT_NE(shown.text.find(says), std::string::npos) << shown.text;
  }
}

TEST_F(RunCommand, AKilledRunGoesOnAndJudgesNothingTwice) {
  ASSERT_EQ(run_kagent(run_level()).exit_code, 4);
  answer_all();
  const std::string program = (fs::read_symlink("/proc/self/exe").parent_path() / "kagent").string();
  for (const char* after_s : {"0.15", "0.3"}) {  // SIGKILL, wherever it is then
    [[maybe_unused]] const int killed = std::system(
        ("timeout -s KILL " + std::string(after_s) + " " + program + " " + run_level() + " >/dev/null 2>&1").c_str());
  }
  ASSERT_EQ(run_kagent(run_level()).exit_code, 4);
  answer_all();
  EXPECT_EQ(run_kagent(run_level()).exit_code, 0);
  EXPECT_EQ(run_kagent("log verify " + run_).exit_code, 0);  // one reply and one verdict a sample
  EXPECT_EQ(fs::exists(run_ + "/tasks/3-50/events.jsonl"), true);
}

TEST_F(RunCommand, TheHalvesEndWhereTheWholeDoes) {
  const auto half = [&](const std::string& command) { return run_kagent(command).exit_code; };
  const std::string generate =
      "generate --tasks 3/1,3/2 --small --samples 1 --no-wait --model spool:" + spool_ + " --run " + run_;
  EXPECT_EQ(half(generate), 4);
  EXPECT_EQ(answer_all(), 2);
  EXPECT_EQ(half("judge-run " + run_ + " --backend emulate"), 4);  // nothing is answered in the log yet
  EXPECT_EQ(half(generate), 4);
  EXPECT_EQ(half("judge-run " + run_ + " --backend emulate --shard 0/2"), 0);
  EXPECT_EQ(half(generate), 4);  // the other shard's task
  EXPECT_EQ(half("judge-run " + run_ + " --backend emulate --shard 1/2"), 0);
  EXPECT_EQ(half(generate), 0);
  EXPECT_EQ(half("log verify " + run_), 0);
}

TEST_F(RunCommand, SettingsComeFromAFileAndTheCommandLineGoesBeforeThem) {
  const std::string file = folder_ + "/suite.toml";
  std::ofstream(file) << "tasks = [\"3/1\", \"3/2\"]\nsamples = 3\nmodel = \"spool:" << spool_
                      << "\"\nno-wait = true\n";
  const Outcome shown = run_kagent("run --config " + file + " --samples 1 --dry-run --run " + run_);
  EXPECT_EQ(shown.exit_code, 0) << shown.text;
  EXPECT_NE(shown.text.find("2 tasks, 1 samples each"), std::string::npos) << shown.text;
}

// Which tasks is one question with two names for its answer.
TEST_F(RunCommand, TheTasksOfTheCommandLineReplaceThoseOfTheFile) {
  const std::string file = folder_ + "/suite.toml";
  const std::string words = "run --config " + file + " --model spool:" + spool_ + " --run " + run_ + " --dry-run ";
  std::ofstream(file) << "level = 3\n";
  EXPECT_NE(run_kagent(words + "--tasks 3/1").text.find("\n1 tasks, "), std::string::npos);
  std::ofstream(file) << "tasks = [\"3/1\"]\n";
  EXPECT_NE(run_kagent(words + "--level 3").text.find("\n50 tasks, "), std::string::npos);
  std::ofstream(file) << "task = \"3/4\"\nmodel = \"spool:" << spool_ << "\"\n";
  const Outcome solved =
      run_kagent("solve --config " + file + " --file " KAGENT_SOURCE_DIR "/docs/example/my_model.py --dry-run --json");
  EXPECT_NE(solved.text.find("\"task\": \"file/my_model\""), std::string::npos) << solved.text;
}

TEST_F(RunCommand, AWrongSettingIsOneLineThatNamesItsLine) {
  const std::string file = folder_ + "/suite.toml";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"sample = 3\n", ":1: there is no setting sample; did you mean samples?"},
      {"\nconfig = \"x\"\n", ":2: there is no setting config; kagent run --help lists them"},
      {"samples = \"3\"\n", ":1: samples wants a whole number of 32 bits, as in samples = 3, not text"},
      {"samples = 2.0\n", ":1: samples wants a whole number of 32 bits, as in samples = 3, not a number"},
      {"max-tokens = 3000000000\n", ":1: max-tokens wants a whole number of 32 bits, "},
      {"budget-usd = true\n", ":1: budget-usd wants a number, as in budget-usd = 0.5, not true or false"},
      {"no-wait = 1\n", ":1: no-wait wants true or false, as in no-wait = true, not a whole number"},
      {"model = [\"a\"]\n", ":1: model wants text, as in model = \"...\", not a list of texts"},
      {"tasks = \"3/1\"\n", ":1: tasks wants a list of texts, as in tasks = [\"...\", \"...\"], not text"},
      {"tasks = []\n", ":1: the list of tasks is empty; fill it, or leave tasks out"},
      {"suite = \"\"\n", ":1: suite is empty; give a value, or leave suite out"},
      {"samples = 9\n", ":1: samples: 9 is out of range; give 1 to 5"},
      {"protocol = \"x\"\n", ":1: protocol: x not in {"},
      {"level = 3\nlevel = 4\n", ":2: level is given again, after line 1"},
      {"[?\n", ":1: there are no tables in a settings file"},
  };
  for (const auto& [text, says] : rows) {
    std::ofstream(file) << text;
    const Outcome wrong = run_kagent("run --config " + file);
    EXPECT_EQ(wrong.exit_code, 2) << text;
    EXPECT_EQ(wrong.text.find("kagent: " + file + says), 0U) << wrong.text;
    EXPECT_EQ(wrong.text.find('\n'), wrong.text.size() - 1) << wrong.text;
  }
}

}  // namespace
}  // namespace kagent
