// A whole level with stub answers, as a user runs it: killed, resumed, split into halves.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

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
  std::ofstream(file) << "sample = 3\n";
  const Outcome wrong = run_kagent("run --config " + file);
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.text.find("there is no setting sample; did you mean samples?"), std::string::npos) << wrong.text;
}

}  // namespace
}  // namespace kagent
