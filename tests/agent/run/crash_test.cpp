// Kills, full disks and torn writes: nothing that was acknowledged is ever lost.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>

#include "tests/agent/run/run_fixture.h"

namespace kagent::run {
namespace {

namespace fs = std::filesystem;

class Crash : public RunFixture {
 protected:
  [[nodiscard]] std::string torn_path(std::size_t offset, const std::string& again = "") const {
    return folder_ + "/tasks/3-4/torn-" + std::to_string(offset) + again;
  }
};

// How many events a log that was cut after `cut` bytes still has: an event whose newline alone is missing is whole.
std::size_t events_before(const std::string& whole, std::size_t cut) {
  const auto lines = std::count(whole.begin(), whole.begin() + static_cast<long>(cut), '\n');
  return static_cast<std::size_t>(lines) + (cut < whole.size() && whole[cut] == '\n' ? 1 : 0);
}

TEST_F(Crash, AtAnyByteLeavesAllWholeEventsReadable) {
  const RunDirectory run = create();
  fill(run);
  const std::string whole = log_text();
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const auto chain = parse_chain(whole.substr(0, cut), run.manifest_sha256());
    ASSERT_TRUE(chain.ok()) << cut << ": " << chain.error().message;
    ASSERT_EQ(chain.value().events.size(), events_before(whole, cut)) << cut;
    ASSERT_EQ(chain.value().bytes + chain.value().torn.size(), cut);
  }
}

// As above on the disk, where each cut costs several syncs: at every line's end and here and there between.
TEST_F(Crash, IsRepairedAndTheLogGoesOn) {
  const RunDirectory run = create();
  fill(run);
  const std::string whole = log_text();
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const bool near_line_end = whole.substr(cut - std::min<std::size_t>(cut, 2), 4).find('\n') != std::string::npos;
    if (cut % 101 != 0 && !near_line_end) continue;
    put_log(whole.substr(0, cut));
    const auto log = run.open_task("3/4");
    ASSERT_TRUE(log.ok()) << cut << ": " << log.error().message;
    ASSERT_EQ(log.value()->events().size(), events_before(whole, cut)) << cut;
    append(*log.value(), "resume", {});
    const auto chain = run.read_task("3/4");
    ASSERT_TRUE(chain.ok()) << cut;
    ASSERT_EQ(chain.value().events.size(), events_before(whole, cut) + 1) << cut;
  }
}

TEST_F(Crash, KeepsEveryTornTail) {
  const RunDirectory run = create();
  fill(run);
  const std::string whole = log_text();
  const std::string tails[] = {"{\"kind\": \"rep", std::string(2, '\0')};
  for (const std::string& tail : tails) {
    put_log(whole + tail);
    ASSERT_TRUE(run.open_task("3/4").ok());
    EXPECT_EQ(log_text(), whole);
  }
  EXPECT_EQ(read_file(torn_path(whole.size())).value(), tails[0]);
  EXPECT_EQ(read_file(torn_path(whole.size(), "-2")).value(), tails[1]);
}

TEST_F(Crash, LeavesADamagedLogUntouched) {
  const RunDirectory run = create();
  fill(run);
  std::string damaged = log_text();
  damaged[damaged.size() / 2] ^= 1;
  put_log(damaged);
  const auto log = run.open_task("3/4");
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().code, Code::kParse);
  EXPECT_THAT(log.error().message, ::testing::HasSubstr(log_path() + ": line "));
  EXPECT_EQ(log_text(), damaged);
}

// The child tells each acknowledged append through a pipe; all of them must be there after the kill.
TEST_F(Crash, ByKillNineLosesNoAcknowledgedEvent) {
  const RunDirectory run = create();
  for (int round = 0; round < 3; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto log = run.open_task("3/4").value();
      if (round == 0 && !log->append("start", {{"task", "3/4"}}).ok()) ::_exit(1);
      for (int i = 0; i < 1'000'000; ++i) {
        const std::string pad(static_cast<std::size_t>(i % 3000), 'x');
        if (!log->append("attempt", {{"sample", 1}, {"pad", pad}}).ok()) ::_exit(1);
        const auto count = static_cast<std::uint32_t>(log->events().size());
        if (::write(pipe_ends[1], &count, sizeof count) != sizeof count) ::_exit(1);
      }
      ::_exit(0);
    }
    ::close(pipe_ends[1]);
    std::uint32_t acknowledged = 0;
    for (int i = 0; i < 10; ++i) ASSERT_EQ(::read(pipe_ends[0], &acknowledged, sizeof acknowledged), 4);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(pipe_ends[0], &acknowledged, sizeof acknowledged) == 4) {
    }
    ::close(pipe_ends[0]);
    const auto log = run.open_task("3/4");
    ASSERT_TRUE(log.ok()) << log.error().message;
    EXPECT_GE(log.value()->events().size(), acknowledged);
    append(*log.value(), "resume", {});
  }
}

TEST_F(Crash, OfAFullDiskLeavesTheLogAsItWas) {
  const RunDirectory run = create();
  fill(run);
  const std::string whole = log_text();
  const pid_t child = ::fork();
  if (child == 0) {
    // A file-size limit fails writes half-way, as a full disk does.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {whole.size() + 40, whole.size() + 40};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto log = run.open_task("3/4").value();
    const Status appended = log->append("attempt", {{"sample", 1}, {"pad", std::string(1000, 'x')}});
    const Result<std::string> blob = log->blobs().put(std::string(100'000, 'x'));
    ::_exit(!appended.ok() && appended.error().code == Code::kIo && !blob.ok() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(log_text(), whole);
  EXPECT_TRUE(run.open_task("3/4").ok());
  for (const auto& entry : fs::recursive_directory_iterator(folder_ + "/blobs"))
    EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos) << entry.path();
}

// Where a file system's locks do not reach another host.
TEST_F(Crash, IsAvoidedWhenASecondWriterGotPastTheLease) {
  const auto log = create().open_task("3/4").value();
  append(*log, "start", {{"task", "3/4"}});
  ASSERT_TRUE(AppendFile::open(log_path()).value().append("x").ok());
  const std::string before = log_text();
  EXPECT_EQ(log->append("resume", {}).error().code, Code::kBusy);
  EXPECT_EQ(log_text(), before);
}

}  // namespace
}  // namespace kagent::run
