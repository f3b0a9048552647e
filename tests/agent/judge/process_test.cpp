#include "agent/judge/process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kagent {
namespace {

using Seconds = std::chrono::duration<double>;

// A child in shell: each test says what it does with a request line.
std::unique_ptr<Child> shell(const std::string& script, const std::string& log = "") {
  auto child = Child::start({"test child", {"/bin/sh", "-c", script}, "", log});
  EXPECT_TRUE(child.ok());
  return std::move(child).value();
}

TEST(Child, AnswersOneLineToEachRequest) {
  auto child = shell(R"(while read line; do echo '{"ok": true, "n": 7}'; done)");
  for (int i = 0; i < 3; ++i) {
    const ChildReply reply = child->ask({{"cmd", "hello"}}, Seconds(10));
    ASSERT_EQ(reply.fate, Fate::kAnswered) << reply.detail;
    EXPECT_TRUE(reply.ok());
    EXPECT_EQ(reply.answer["n"], 7);
  }
}

TEST(Child, TakesRequestsAndAnswersLargerThanAPipe) {
  auto child = shell(
      R"(read line; printf '{"ok": true, "size": %s, "pad": "' ${#line}; head -c 300000 /dev/zero | tr '\0' x; echo '"}')");
  const ChildReply reply = child->ask({{"cmd", std::string(200000, 'y')}}, Seconds(20));
  ASSERT_EQ(reply.fate, Fate::kAnswered) << reply.detail;
  EXPECT_EQ(reply.answer["size"], 200000 + 10);
  EXPECT_EQ(reply.answer["pad"].get<std::string>().size(), 300000U);
}

TEST(Child, ThatHangsIsKilledAtTheDeadline) {
  auto child = shell("read line; sleep 60");
  const ChildReply reply = child->ask({{"cmd", "x"}}, Seconds(0.2));
  EXPECT_EQ(reply.fate, Fate::kDeadline);
  EXPECT_LT(reply.elapsed_s, 5);
  EXPECT_FALSE(child->alive());
  EXPECT_EQ(child->ask({{"cmd", "x"}}, Seconds(1)).fate, Fate::kDied);
}

TEST(Child, ThatDiesSaysHow) {
  EXPECT_EQ(shell("read line; exit 3")->ask({}, Seconds(10)).detail, "exited with code 3");
  const ChildReply reply = shell("read line; kill -SEGV $$")->ask({}, Seconds(10));
  EXPECT_EQ(reply.fate, Fate::kDied);
  EXPECT_NE(reply.detail.find("signal 11"), std::string::npos) << reply.detail;
}

TEST(Child, ThatTalksNonsenseIsGarbled) {
  EXPECT_EQ(shell("read line; echo hello")->ask({}, Seconds(10)).fate, Fate::kGarbled);
  EXPECT_EQ(shell(R"(read line; echo '{"ok": "yes"}')")->ask({}, Seconds(10)).fate, Fate::kGarbled);
  EXPECT_EQ(shell("read line; echo '[1]'")->ask({}, Seconds(10)).fate, Fate::kGarbled);
}

TEST(Child, ThatAnswersTooDeepForALogIsGarbled) {
  auto child = shell(
      R"(read line; printf '{"ok": true, "a": '; head -c 1000000 /dev/zero | tr '\0' '['; head -c 1000000 /dev/zero | tr '\0' ']'; echo '}')");
  EXPECT_EQ(child->ask({{"cmd", "run"}}, Seconds(20)).fate, Fate::kGarbled);
  EXPECT_TRUE(read_answer(R"({"ok": false, "error": {"line": [1]}})").is_object());
  EXPECT_TRUE(read_answer(R"({"ok": "yes"})").is_null());
}

TEST(Child, InheritsNoEnvironmentAndNoDescriptors) {
  ::setenv("OPENAI_API_KEY", "sk-secret-canary", 1);
  const int fd = ::dup(2);  // without CLOEXEC
  auto child = shell(
      R"x(read line; [ -e /proc/$$/fd/)x" + std::to_string(fd) +
      R"x( ] && leak=true || leak=false; printf '{"ok": true, "env": "%s", "leak": %s}\n' "$(env | tr '\n"' ' _')" $leak)x");
  const ChildReply reply = child->ask({}, Seconds(10));
  ::unsetenv("OPENAI_API_KEY");
  ::close(fd);
  ASSERT_TRUE(reply.ok()) << reply.detail;
  const std::string env = reply.answer["env"];
  EXPECT_EQ(env.find("canary"), std::string::npos) << env;
  EXPECT_NE(env.find("CUDA_VISIBLE_DEVICES="), std::string::npos);
  EXPECT_EQ(reply.answer["leak"], false);
}

TEST(Child, TakesItsGrandchildrenAlongWhenKilled) {
  const auto marker = std::filesystem::temp_directory_path() / ("kagent-orphan-" + std::to_string(::getpid()));
  {
    auto child = shell("(sleep 1; touch " + marker.string() + ") & read line; sleep 60");
    child->ask({}, Seconds(0.1));
  }
  ::usleep(1'300'000);
  EXPECT_FALSE(std::filesystem::exists(marker));
}

TEST(Child, ThatCannotStartIsAnErrorNamingTheProgram) {
  const auto child = Child::start({"worker", {"/nonexistent/python"}, "", ""});
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().code, Code::kNotFound);
  EXPECT_NE(child.error().message.find("/nonexistent/python"), std::string::npos);
}

TEST(Child, WithoutALogItsStderrIsThereAsLongAsItIs) {
  auto child = shell("read line; echo oh no >&2; exit 1");
  child->ask({}, Seconds(10));
  EXPECT_EQ(child->stderr_tail(100), "oh no\n");
}

TEST(LastSaid, IsTheLastLineThatSaysSomething) {
  EXPECT_EQ(last_said("first\nsecond\r\n\n "), "; it last said: second");
  EXPECT_EQ(last_said("only"), "; it last said: only");
  EXPECT_EQ(last_said(" \n"), "");
}

TEST(Child, KeepsItsStderrForTheLog) {
  const auto log = std::filesystem::temp_directory_path() / ("kagent-stderr-" + std::to_string(::getpid()));
  auto child = shell("read line; echo oh no >&2; exit 1", log.string());
  child->ask({}, Seconds(10));
  EXPECT_EQ(child->stderr_tail(100), "oh no\n");
  std::filesystem::remove(log);
}

}  // namespace
}  // namespace kagent
