#include "harness/seal/seal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

namespace kagent::seal {
namespace {

// Runs `work` in a sealed child; its return value is the result, 99 when the seal failed.
int sealed(const Rules& rules, const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(seal(rules).sealed ? work() : 99);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

class Seal : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const Outcome outcome = probe(); !outcome.sealed) GTEST_SKIP() << outcome.error;
    folder_ = (std::filesystem::temp_directory_path() / "kagent-seal-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    std::ofstream(folder_ + "/inside") << "x";
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string folder_;
};

TEST_F(Seal, ReadsOnlyWhatIsReadable) {
  Rules rules;
  rules.readable = {folder_};
  EXPECT_EQ(sealed(rules, [&] { return ::open((folder_ + "/inside").c_str(), O_RDONLY) >= 0 ? 0 : 1; }), 0);
  EXPECT_EQ(sealed(rules, [] { return ::open("/etc/passwd", O_RDONLY) < 0 ? 0 : 1; }), 0);
  EXPECT_EQ(sealed(rules, [&] { return ::open((folder_ + "/inside").c_str(), O_WRONLY) < 0 ? 0 : 1; }), 0);
  EXPECT_EQ(sealed(rules, [&] { return ::open((folder_ + "/new").c_str(), O_CREAT | O_WRONLY, 0644) < 0 ? 0 : 1; }), 0);
}

TEST_F(Seal, WritesOnlyWhatIsWritable) {
  Rules rules;
  rules.writable = {folder_};
  EXPECT_EQ(sealed(rules, [&] { return ::open((folder_ + "/new").c_str(), O_CREAT | O_WRONLY, 0644) >= 0 ? 0 : 1; }),
            0);
  EXPECT_EQ(sealed(rules, [] { return ::open("/tmp/kagent-seal-outside", O_CREAT | O_WRONLY, 0644) < 0 ? 0 : 1; }), 0);
}

TEST_F(Seal, StartsNothingAndTalksToNobody) {
  EXPECT_EQ(sealed({}, [] { return ::fork() < 0 ? 0 : 1; }), 0);
  EXPECT_EQ(sealed({}, [] { return ::socket(AF_INET, SOCK_STREAM, 0) < 0 ? 0 : 1; }), 0);
  EXPECT_EQ(sealed({}, [] { return ::kill(::getppid(), 0) < 0 ? 0 : 1; }), 0);
  EXPECT_EQ(sealed({},
                   [] {
                     ::execl("/bin/true", "true", nullptr);
                     return 0;  // still here: exec was refused
                   }),
            0);
}

TEST_F(Seal, ComputesOnWithThreads) {
  EXPECT_EQ(sealed({},
                   [] {
                     int n = 0;
                     std::thread([&] { n = 7; }).join();
                     return n == 7 ? 0 : 1;
                   }),
            0);
}

TEST_F(Seal, EndsAtItsProcessorTime) {
  Rules rules;
  rules.cpu_seconds = 1;
  EXPECT_EQ(sealed(rules,
                   [] {
                     while (::getppid() != -1) {  // never
                     }
                     return 0;
                   }),
            100 + SIGKILL);
}

}  // namespace
}  // namespace kagent::seal
