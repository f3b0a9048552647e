#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "agent/base/file.h"
#include "agent/base/sha256.h"
#include "agent/run/run_directory.h"
#include "agent/run/verify.h"

namespace kagent::run {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Run : public ::testing::Test {
 protected:
  Run() { fs::remove_all(folder_); }
  ~Run() override { fs::remove_all(folder_); }

  RunDirectory create() {
    auto run = RunDirectory::create_or_resume(folder_, identity_, {{"machine", "test"}});
    EXPECT_TRUE(run.ok()) << (run.ok() ? "" : run.error().message);
    return run.value();
  }
  // One whole sample and an end.
  void fill(const RunDirectory& run) {
    auto log = run.open_task("3/4").value();
    const std::string prompt = log->blobs().put("the prompt").value();
    const std::string answer = log->blobs().put("the answer").value();
    EXPECT_TRUE(log->append("start", {{"task", "3/4"}}).ok());
    EXPECT_TRUE(log->append("request", {{"sample", 1}, {"prompt_sha256", prompt}}).ok());
    EXPECT_TRUE(log->append("reply", {{"sample", 1}, {"answer_sha256", answer}}).ok());
    EXPECT_TRUE(log->append("verdict", {{"sample", 1}, {"verdict", {{"outcome", "accepted"}}}}).ok());
    EXPECT_TRUE(log->append("end", {{"reason", "samples"}}).ok());
  }
  [[nodiscard]] std::string log_path() const { return folder_ + "/tasks/3-4/events.jsonl"; }

  std::string folder_ = (fs::temp_directory_path() / ("kagent-run-" + std::to_string(::getpid()))).string();
  json identity_ = {{"tasks", {"3/4"}}, {"model", "spool:x"}};
};

TEST_F(Run, ResumesWhereItWas) {
  fill(create());
  const auto again = RunDirectory::create_or_resume(folder_, identity_, {{"machine", "another"}});
  ASSERT_TRUE(again.ok());
  const TaskState state = again.value().open_task("3/4").value()->state();
  ASSERT_EQ(state.samples.size(), 1U);
  EXPECT_TRUE(state.ended);
  EXPECT_TRUE(state.samples[0].reply);
  EXPECT_TRUE(state.samples[0].verdict);
  const auto reply = recorded_reply(again.value(), "3/4", 1);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply.value()->text, "the answer");
  EXPECT_FALSE(recorded_reply(again.value(), "3/4", 2).value());
}

TEST_F(Run, WithAnotherModelIsRefusedAndUntouched) {
  create();
  const std::string before = read_file(folder_ + "/manifest.json").value();
  const auto other = RunDirectory::create_or_resume(folder_, {{"tasks", {"3/4"}}, {"model", "openai:y"}}, {});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::kUsage);
  EXPECT_NE(other.error().message.find("another model"), std::string::npos) << other.error().message;
  EXPECT_EQ(read_file(folder_ + "/manifest.json").value(), before);
}

TEST_F(Run, NeverTakesOverAFolderThatIsNoRun) {
  fs::create_directories(folder_);
  ASSERT_TRUE(write_file(folder_ + "/precious.txt", "x").ok());
  EXPECT_EQ(RunDirectory::create_or_resume(folder_, identity_, {}).error().code, Code::kUsage);
  EXPECT_EQ(RunDirectory::open(folder_).error().code, Code::kNotFound);
}

TEST_F(Run, IsHeldByOneProcessATask) {
  const RunDirectory run = create();
  const auto first = run.open_task("3/4");
  ASSERT_TRUE(first.ok());
  const auto second = run.open_task("3/4");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kBusy);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos);
}

TEST_F(Run, CutAtAnyByteReloadsAllWholeEventsAndGoesOn) {
  const RunDirectory run = create();
  fill(run);
  const std::string whole = read_file(log_path()).value();
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    ASSERT_TRUE(write_file(log_path(), whole.substr(0, cut)).ok());
    const auto log = run.open_task("3/4");
    ASSERT_TRUE(log.ok()) << cut << ": " << log.error().message;
    const auto lines =
        static_cast<std::size_t>(std::count(whole.begin(), whole.begin() + static_cast<long>(cut), '\n'));
    ASSERT_EQ(log.value()->events().size(), lines) << cut;
    ASSERT_TRUE(log.value()->append("resume", {}).ok());
    ASSERT_TRUE(run.read_task("3/4").ok()) << cut;
  }
}

TEST_F(Run, KeepsATornTailAside) {
  const RunDirectory run = create();
  fill(run);
  const std::string whole = read_file(log_path()).value();
  ASSERT_TRUE(write_file(log_path(), whole + "{\"kind\": \"rep").ok());
  ASSERT_TRUE(run.open_task("3/4").ok());
  EXPECT_EQ(read_file(log_path()).value(), whole);
  EXPECT_EQ(read_file(folder_ + "/tasks/3-4/torn-" + std::to_string(whole.size())).value(), "{\"kind\": \"rep");
}

TEST_F(Run, VerifiesWhole) {
  const RunDirectory run = create();
  fill(run);
  const VerifyReport report = verify(run, std::nullopt).value();
  EXPECT_EQ(report.problems, std::vector<std::string>());
  EXPECT_EQ(report.events, 5);
  EXPECT_EQ(report.blobs, 2);
  EXPECT_TRUE(verify(run, report.head).value().problems.empty());
}

TEST_F(Run, VerifyFindsEveryFlippedByte) {
  const RunDirectory run = create();
  fill(run);
  const std::string whole = read_file(log_path()).value();
  const std::string head = verify(run, std::nullopt).value().head;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    ASSERT_TRUE(write_file(log_path(), damaged).ok());
    EXPECT_FALSE(verify(run, head).value().problems.empty()) << "byte " << i;
  }
}

TEST_F(Run, VerifyFindsACutOnlyAgainstTheHead) {
  const RunDirectory run = create();
  fill(run);
  const std::string head = verify(run, std::nullopt).value().head;
  std::string text = read_file(log_path()).value();
  text.resize(text.rfind('\n', text.size() - 2) + 1);
  ASSERT_TRUE(write_file(log_path(), text).ok());
  EXPECT_EQ(verify(run, std::nullopt).value().problems.size(), 1U);  // no end
  EXPECT_EQ(verify(run, head).value().problems.size(), 2U);
}

TEST_F(Run, VerifyFindsAMissingOrChangedBlob) {
  const RunDirectory run = create();
  fill(run);
  const std::string hash = sha256_hex("the answer");
  ASSERT_TRUE(write_file(folder_ + "/blobs/" + hash.substr(0, 2) + "/" + hash, "another answer").ok());
  ASSERT_EQ(verify(run, std::nullopt).value().problems.size(), 1U);
  fs::remove(folder_ + "/blobs/" + hash.substr(0, 2) + "/" + hash);
  ASSERT_EQ(verify(run, std::nullopt).value().problems.size(), 1U);
}

TEST_F(Run, SurvivesKillNineWhileAppending) {
  const RunDirectory run = create();
  const pid_t child = ::fork();
  if (child == 0) {
    auto log = run.open_task("3/4").value();
    for (int i = 0; i < 1'000'000; ++i) {
      if (!log->append("attempt", {{"n", i}, {"pad", std::string(static_cast<std::size_t>(i % 3000), 'x')}}).ok())
        ::_exit(1);
    }
    ::_exit(0);
  }
  ::usleep(100'000);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  const auto log = run.open_task("3/4");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_GT(log.value()->events().size(), 0U);
  EXPECT_TRUE(log.value()->append("resume", {}).ok());
}

TEST_F(Run, AFullDiskLosesNothing) {
  const RunDirectory run = create();
  fill(run);
  const std::string whole = read_file(log_path()).value();
  const pid_t child = ::fork();
  if (child == 0) {
    // A file-size limit fails writes half-way, as a full disk does.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {whole.size() + 40, whole.size() + 40};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto log = run.open_task("3/4").value();
    const Status appended = log->append("attempt", {{"pad", std::string(1000, 'x')}});
    ::_exit(!appended.ok() && appended.error().code == Code::kIo ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(read_file(log_path()).value(), whole);
}

TEST(Chain, RefusesWholeLinesThatDoNotFit) {
  EXPECT_FALSE(parse_chain("not json\n", "p").ok());
  EXPECT_FALSE(parse_chain("{}\n", "p").ok());
  const std::string line = chain_line("start", json::object(), 0, "p", "t");
  EXPECT_TRUE(parse_chain(line + "\n", "p").ok());
  EXPECT_FALSE(parse_chain(line + "\n", "q").ok());
  EXPECT_FALSE(parse_chain(line + "\n" + line + "\n", "p").ok());
}

}  // namespace
}  // namespace kagent::run
