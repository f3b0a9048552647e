// What goes wrong around a run directory, as a user of the program meets it: one clear line, exit code 2, nothing lost,
// and the same command goes on once the cause is gone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agent/base/file.h"
#include "agent/run/run_directory.h"
#include "agent/run/verify.h"
#include "tests/agent/command/program.h"

namespace kagent {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Robustness : public ::testing::Test {
 protected:
  Robustness() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Robustness() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string solve_words() const {
    return "solve --task 3/4 --backend none --model spool:" + folder_ + "/spool --no-wait --run " + run_;
  }
  [[nodiscard]] Outcome solve() const { return run_kagent(solve_words()); }
  // kagent under a shell that prepares something: $KAGENT and $RUN are set.
  [[nodiscard]] Outcome in_shell(const std::string& script) const {
    const std::string program = (fs::read_symlink("/proc/self/exe").parent_path() / "kagent").string();
    Outcome outcome;
    const std::string file = folder_ + "/script";
    EXPECT_TRUE(write_file(file, "KAGENT=" + program + "\nRUN=" + run_ + "\n" + script).ok());
    FILE* pipe = ::popen(("bash " + file + " 2>&1 </dev/null").c_str(), "r");
    if (pipe == nullptr) return outcome;
    std::array<char, 4096> part{};
    for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
      outcome.text.append(part.data(), n);
    const int status = ::pclose(pipe);
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }
  // Whether this user may make mounts of their own here; why not.
  static bool may_mount() { return std::system("unshare -rm true 2>/dev/null") == 0; }

  // The error among lines of progress.
  static std::string error_of(const Outcome& outcome) {
    const std::size_t at = outcome.text.rfind("kagent: ");
    return at == std::string::npos ? "" : outcome.text.substr(at);
  }
  static void expect_one_error(const Outcome& outcome, const std::string& says) {
    EXPECT_EQ(outcome.exit_code, 2) << outcome.text;
    EXPECT_THAT(error_of(outcome), HasSubstr(says)) << outcome.text;
    EXPECT_EQ(std::count(outcome.text.begin(), outcome.text.end(), '\0'), 0);
    const std::string error = error_of(outcome);
    EXPECT_EQ(error.find('\n'), error.size() - 1) << error;
    EXPECT_EQ(outcome.text.find("a bug in kagent"), std::string::npos) << outcome.text;
  }
  [[nodiscard]] std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(run_)) {
      if (entry.is_regular_file() && entry.path().filename() != "lease")
        found[entry.path().string()] = read_file(entry.path().string()).value();
    }
    return found;
  }
  // A run of one judged sample whose answer has no blocks, so that no judge is needed; not ended.
  void begin_run() const {
    ASSERT_EQ(solve().exit_code, 4) << solve().text;
    const auto run = run::RunDirectory::open(run_).value();
    const auto log = run.open_task("3/4").value();
    ASSERT_TRUE(log->append("reply", {{"sample", 1}, {"answer_sha256", log->blobs().put("Sorry.").value()}}).ok());
    const json verdict = {{"outcome", "rejected"}, {"stage", "answer"}, {"kind", "no_blocks"}, {"reason", "no blocks"}};
    ASSERT_TRUE(log->append("verdict", {{"sample", 1}, {"verdict", verdict}}).ok());
  }
  [[nodiscard]] std::string log_path() const { return run_ + "/tasks/3-4/events.jsonl"; }

  std::string folder_ = (fs::temp_directory_path() / ("kagent-robust-" + std::to_string(::getpid()))).string();
  std::string run_ = folder_ + "/run";
};

TEST_F(Robustness, TwoCommandsOnOneRunTheSecondNamesTheFirst) {
  begin_run();
  const auto before = files();
  const auto held = run::RunDirectory::open(run_).value().open_task("3/4").value();
  expect_one_error(solve(), "is being written by process " + std::to_string(::getpid()));
  EXPECT_EQ(files(), before);
}

// Every command that reads goes on meanwhile.
TEST_F(Robustness, ARunThatIsBeingWrittenCanBeRead) {
  begin_run();
  const auto held = run::RunDirectory::open(run_).value().open_task("3/4").value();
  EXPECT_EQ(run_kagent("show " + run_).exit_code, 0);
  EXPECT_EQ(run_kagent("replay " + run_).exit_code, 0);
  EXPECT_EQ(run_kagent("log verify " + run_).exit_code, 1);  // undamaged and not finished
}

TEST_F(Robustness, AWriteThatFailsHalfWayIsSaidAndTheSameCommandGoesOn) {
  // A limit of a file's size fails writes as a full disk does; an ignored signal stays ignored in the program.
  const Outcome full = in_shell("trap '' XFSZ; ulimit -f 4; exec $KAGENT " + solve_words());
  expect_one_error(full, "File too large");
  EXPECT_EQ(solve().exit_code, 4);
  EXPECT_TRUE(run::RunDirectory::open(run_).value().read_task("3/4").ok());
}

TEST_F(Robustness, AFullDiskIsSaidAndTheSameCommandGoesOnWhenThereIsRoom) {
  if (!may_mount()) GTEST_SKIP() << "a small disk needs a mount, and this user may make none (unshare -rm)";
  fs::create_directories(run_);
  const Outcome outcome = in_shell(
      "exec unshare -rm bash -c '"
      "mount -t tmpfs -o size=12k tmpfs " +
      run_ +
      "; cd /; "
      "'\"$KAGENT\"' " +
      solve_words() +
      "; echo first $?; "
      "mount -o remount,size=10m " +
      run_ +
      "; "
      "'\"$KAGENT\"' " +
      solve_words() +
      "; echo second $?; "
      "'\"$KAGENT\"' log verify " +
      run_ + "'");
  EXPECT_THAT(outcome.text, HasSubstr("No space left on device"));
  EXPECT_THAT(outcome.text, HasSubstr("first 2"));
  EXPECT_THAT(outcome.text, HasSubstr("second 4"));
  EXPECT_THAT(outcome.text, HasSubstr("undamaged and not finished"));
}

TEST_F(Robustness, AReadOnlyRunCanBeReadAndNotWritten) {
  if (!may_mount()) GTEST_SKIP() << "a read-only disk needs a mount, and this user may make none (unshare -rm)";
  begin_run();
  const auto before = files();
  fs::remove_all(run_ + "/tasks/3-4/lease");  // as in a run that was copied or checked out
  const Outcome outcome =
      in_shell("exec unshare -rm bash -c 'mount --bind " + run_ + " " + run_ + " && mount -o remount,bind,ro " + run_ +
               "; for words in \"show " + run_ + "\" \"replay " + run_ + "\" \"log verify " + run_ + "\" \"" +
               solve_words() + "\"; do '\"$KAGENT\"' $words > " + folder_ +
               "/said 2>&1; echo \"${words%% *} $?\"; done; cat " + folder_ + "/said'");
  EXPECT_THAT(outcome.text,
              AllOf(HasSubstr("show 0\n"), HasSubstr("replay 0\n"), HasSubstr("log 1\n"), HasSubstr("solve 2\n")));
  EXPECT_THAT(error_of(outcome), HasSubstr("Read-only file system"));
  EXPECT_EQ(files(), before);
}

TEST_F(Robustness, AMissingSuiteIsNamed) {
  const std::string suite = folder_ + "/no-suite";
  for (const std::string& words : {"tasks --suite " + suite, "judge --task 3/4 --answer x.md --suite " + suite,
                                   solve_words() + " --suite " + suite}) {
    const Outcome outcome = run_kagent(words);
    expect_one_error(outcome, suite);
  }
  EXPECT_FALSE(fs::exists(run_));
}

TEST_F(Robustness, ACorruptLogIsNamedByItsLineAndLeftAsItIs) {
  begin_run();
  std::string text = read_file(log_path()).value();
  text[text.find("no_blocks")] ^= 1;
  ASSERT_TRUE(write_file(log_path(), text).ok());
  const auto before = files();
  for (const std::string& words : {solve_words(), "show " + run_, "replay " + run_, "audit " + run_}) {
    const Outcome outcome = run_kagent(words);
    EXPECT_EQ(outcome.exit_code, 2) << words << ": " << outcome.text;
    EXPECT_THAT(error_of(outcome), HasSubstr("events.jsonl: line 4: ")) << words;
  }
  const Outcome verified = run_kagent("log verify " + run_);
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_THAT(verified.text, HasSubstr("events.jsonl: line 4: "));
  EXPECT_EQ(files(), before);
}

TEST_F(Robustness, ALostAnswerIsNamedByTheCommandsThatNeedIt) {
  begin_run();
  const auto run = run::RunDirectory::open(run_).value();
  const auto events = run.read_task("3/4").value().events;
  const std::string hash = events[2]["answer_sha256"].get<std::string>();
  fs::remove(run_ + "/blobs/" + hash.substr(0, 2) + "/" + hash);
  EXPECT_EQ(run_kagent("replay " + run_).exit_code, 2);
  EXPECT_THAT(run_kagent("replay " + run_).text, HasSubstr(hash));
  expect_one_error(solve(), hash);  // feedback needs what was answered
}

// Nothing may depend on the times in events: the chain says what came first.
TEST_F(Robustness, AClockThatJumpsBackChangesNothing) {
  begin_run();
  const auto run = run::RunDirectory::open(run_).value();
  std::string lines;
  std::string prev = run.manifest_sha256();
  const auto chain = run.read_task("3/4").value();
  int year = 2030;
  for (const json& event : chain.events) {
    const std::string kind = event["kind"].get<std::string>();
    const std::string line = run::chain_line(kind, event, event["seq"].get<std::size_t>(), prev,
                                             std::to_string(year--) + "-01-01T00:00:00.000Z");
    lines += line + "\n";
    prev = run::parse_chain(lines, run.manifest_sha256()).value().head;
  }
  ASSERT_TRUE(write_file(log_path(), lines).ok());
  const run::VerifyReport report = run::verify(run, std::nullopt).value();
  EXPECT_EQ(static_cast<int>(report.problems.size()), report.unfinished) << report.problems[0];
  EXPECT_EQ(run_kagent("show " + run_).exit_code, 0);
  EXPECT_EQ(run_kagent("replay " + run_).exit_code, 0);
  EXPECT_EQ(solve().exit_code, 4);  // goes on with sample 2
  EXPECT_EQ(run::state_of(run.read_task("3/4").value().events).samples.size(), 2U);
}

TEST_F(Robustness, ReplayWritesNothingIntoTheRun) {
  begin_run();
  const auto before = files();
  EXPECT_EQ(run_kagent("replay " + run_ + " --out " + folder_ + "/replay.json").exit_code, 0);
  EXPECT_EQ(files(), before);
  const json out = json::parse(read_file(folder_ + "/replay.json").value(), nullptr, false);
  EXPECT_EQ(out["counts"]["equal"], 1);
  EXPECT_EQ(out["finished"], true);
  expect_one_error(run_kagent("replay " + run_ + " --out " + run_ + "/replay.json"), "which is only read");
}

TEST_F(Robustness, MergesACopyAndRefusesOneThatWentAnotherWay) {
  begin_run();
  const std::string copy = folder_ + "/copy";
  fs::copy(run_, copy, fs::copy_options::recursive);
  ASSERT_TRUE(run::RunDirectory::open(copy).value().open_task("3/4").value()->append("resume", {}).ok());
  const Outcome merged = run_kagent("log merge " + run_ + " " + copy);
  EXPECT_EQ(merged.exit_code, 0);
  EXPECT_THAT(merged.text, HasSubstr("3/4: 5 events from " + copy + ", 4 before"));
  ASSERT_TRUE(
      run::RunDirectory::open(run_).value().open_task("3/4").value()->append("resume", {{"problem", "here"}}).ok());
  ASSERT_TRUE(
      run::RunDirectory::open(copy).value().open_task("3/4").value()->append("resume", {{"problem", "there"}}).ok());
  const auto before = files();
  expect_one_error(run_kagent("log merge " + run_ + " " + copy), "went different ways at line 6");
  EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace kagent
