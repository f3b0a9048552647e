#include "harness/seal/seal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

namespace kagent::seal {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

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

TEST_F(Seal, DescriptorsSignalNobody) {
  EXPECT_EQ(sealed({}, [] { return ::fcntl(0, F_SETOWN, ::getppid()) < 0 && errno == EPERM ? 0 : 1; }), 0);
  EXPECT_EQ(sealed({}, [] { return ::fcntl(0, F_SETSIG, SIGKILL) < 0 && errno == EPERM ? 0 : 1; }), 0);
  EXPECT_EQ(sealed({}, [] { return ::fcntl(0, F_GETFL) >= 0 && ::fcntl(0, F_DUPFD_CLOEXEC, 3) >= 3 ? 0 : 1; }), 0);
}

TEST_F(Seal, NewProcessesOnlyWhereTheyAreAllowedAndNeverPrograms) {
  Rules rules;
  rules.allow_fork = true;
  EXPECT_EQ(sealed(rules,
                   [] {
                     const pid_t child = ::fork();
                     if (child == 0) {
                       ::execl("/bin/true", "true", nullptr);
                       ::_exit(errno == EPERM ? 7 : 1);
                     }
                     int status = 0;
                     ::waitpid(child, &status, 0);
                     return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 1;
                   }),
            0);
}

TEST_F(Seal, MapsCodeOnlyWhereItIsAllowed) {
  const auto map = [] {
    void* const at = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? 1 : 0;
  };
  EXPECT_EQ(sealed({}, map), 1);
  Rules rules;
  rules.map_executable = true;
  EXPECT_EQ(sealed(rules, map), 0);
}

TEST_F(Seal, LimitsMemoryAndFiles) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer's own memory and files are more than the seal leaves";
  Rules rules;
  rules.memory_bytes = 1L << 30;
  rules.file_bytes = 100;
  rules.writable = {folder_};
  EXPECT_EQ(sealed(rules,
                   [] {
                     void* const at = ::mmap(nullptr, 2UL << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                     return at == MAP_FAILED ? 0 : 1;
                   }),
            0);
  EXPECT_EQ(sealed(rules,
                   [&] {
                     ::signal(SIGXFSZ, SIG_IGN);
                     const int fd = ::open((folder_ + "/large").c_str(), O_CREAT | O_WRONLY, 0644);
                     const std::string text(200, 'x');
                     return ::write(fd, text.data(), 200) == 100 && ::write(fd, text.data(), 1) < 0 ? 0 : 1;
                   }),
            0);
}

TEST_F(Seal, LinksLeadNowhere) {
  ASSERT_EQ(::symlink("/etc/passwd", (folder_ + "/link").c_str()), 0);
  Rules rules;
  rules.readable = {folder_, folder_ + "/missing"};
  rules.writable = {folder_};
  EXPECT_EQ(sealed(rules, [&] { return ::open((folder_ + "/link").c_str(), O_RDONLY) < 0 ? 0 : 1; }), 0);
  EXPECT_EQ(sealed(rules, [&] { return ::open((folder_ + "/../../etc/passwd").c_str(), O_RDONLY) < 0 ? 0 : 1; }), 0);
  EXPECT_EQ(sealed(rules, [&] { return ::rename((folder_ + "/inside").c_str(), "/tmp/kagent-out") < 0 ? 0 : 1; }), 0);
}

TEST_F(Seal, ThreadsThatRanBeforeAreSealedToo) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer's own memory and files are more than the seal leaves";
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<int> said = 0;  // 1: sealed now; 2: refused; 3: not refused
    std::thread early([&] {
      while (said == 0) std::this_thread::yield();
      said = ::socket(AF_INET, SOCK_STREAM, 0) < 0 ? 2 : 3;
    });
    if (seal({}).sealed) said = 1;
    early.join();
    ::_exit(said);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST_F(Seal, ComputesOnWithThreads) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer's own memory and files are more than the seal leaves";
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
