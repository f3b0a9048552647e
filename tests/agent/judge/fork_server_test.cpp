#include "agent/judge/fork_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "agent/base/file.h"

namespace kagent {
namespace {

using testing::HasSubstr;
using Seconds = std::chrono::duration<double>;

// The real server without torch, and a worker that does what it is told.
class ForkServerTest : public testing::Test {
 protected:
  ForkServerTest() {
    std::filesystem::create_directories(folder_);
    put("server.py",
        "import sys\nsys.path[:0] = [\"" KAGENT_SOURCE_DIR "/harness\", \"" + folder_ +
            "\"]\n"
            "import fork_server\nfork_server.PRELOADED = ()\nfork_server.PROGRAMS = {\"echo.py\": \"echo\"}\n"
            "fork_server.preload = lambda: None\nfork_server.main()\n");
    put("echo.py", R"(import json, os, sys
def main():
    for line in sys.stdin:
        request = json.loads(line)
        if request["cmd"] == "exit": os._exit(7)
        if request["cmd"] == "hang": sys.stdin.read()
        print(json.dumps({"ok": True, "argv": sys.argv, "environment": dict(os.environ),
                          "fds": sorted(os.listdir("/proc/self/fd"))[:3], "pid": os.getpid()}), flush=True)
)");
  }
  ~ForkServerTest() override { std::filesystem::remove_all(folder_); }

  std::string put(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file(folder_ + "/" + name, text).ok());
    return folder_ + "/" + name;
  }
  std::unique_ptr<ForkServer> server(const std::string& script = "server.py") {
    auto started = ForkServer::start("python3", folder_ + "/" + script, folder_ + "/server.stderr");
    if (!started) ADD_FAILURE() << started.error().message;
    return started ? std::move(started).value() : nullptr;
  }
  [[nodiscard]] ChildSpec echo() const { return {"echo", {"echo.py", "--loud"}, "3", folder_ + "/echo.stderr"}; }

  std::string folder_ = std::filesystem::temp_directory_path() / ("kagent-fork-" + std::to_string(::getpid()));
};

TEST_F(ForkServerTest, ItsChildrenAnswerInAMinimalEnvironment) {
  ::setenv("ANTHROPIC_API_KEY", "SECRET-CANARY", 1);
  const auto s = server();
  ::unsetenv("ANTHROPIC_API_KEY");
  auto child = s->fork(echo(), Seconds(20));
  ASSERT_TRUE(child.ok()) << child.error().message;
  const ChildReply reply = child.value()->ask({{"cmd", "say"}}, Seconds(20));
  ASSERT_TRUE(reply.ok()) << reply.detail;
  EXPECT_EQ(reply.answer["argv"], nlohmann::json({"echo.py", "--loud"}));
  EXPECT_EQ(reply.answer["environment"]["CUDA_VISIBLE_DEVICES"], "3");
  EXPECT_THAT(reply.answer.dump(), testing::Not(HasSubstr("SECRET-CANARY")));
  EXPECT_TRUE(reply.answer["environment"].contains("TMPDIR"));
}

TEST_F(ForkServerTest, ItForksManyAndEachIsAProcessOfItsOwn) {
  const auto s = server();
  auto first = s->fork(echo(), Seconds(20));
  auto second = s->fork(echo(), Seconds(20));
  ASSERT_TRUE(first.ok() && second.ok());
  const auto pid = [](Child& child) { return child.ask({{"cmd", "say"}}, Seconds(20)).answer.value("pid", 0); };
  EXPECT_NE(pid(*first.value()), pid(*second.value()));
  first.value()->kill();
  EXPECT_GT(pid(*second.value()), 0);
}

TEST_F(ForkServerTest, AChildThatExitsOrHangsIsSeenToEnd) {
  const auto s = server();
  auto exits = s->fork(echo(), Seconds(20));
  ASSERT_TRUE(exits.ok());
  const ChildReply died = exits.value()->ask({{"cmd", "exit"}}, Seconds(20));
  EXPECT_EQ(died.fate, Fate::kDied);
  EXPECT_EQ(died.detail, "exited with code 7");
  auto hangs = s->fork(echo(), Seconds(20));
  ASSERT_TRUE(hangs.ok());
  EXPECT_EQ(hangs.value()->ask({{"cmd", "hang"}}, Seconds(0.2)).fate, Fate::kDeadline);
  EXPECT_FALSE(hangs.value()->alive());
}

TEST_F(ForkServerTest, InterruptedFromOutsideTheRequestInFlightEnds) {
  const auto s = server();
  auto child = s->fork(echo(), Seconds(20));
  ASSERT_TRUE(child.ok());
  child.value()->interrupt();
  EXPECT_EQ(child.value()->ask({{"cmd", "say"}}, Seconds(20)).fate, Fate::kDied);
}

TEST_F(ForkServerTest, AServerThatEndsIsAnErrorThatSaysHowAndWhatItLastSaid) {
  put("broken.py", "raise SystemExit('no torch here')\n");
  const std::string wanted = "the fork server exited with code 1; it last said: no torch here; run `kagent doctor`";
  const auto s = server("broken.py");
  const auto child = s->fork(echo(), Seconds(20));
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().message, wanted);
  EXPECT_THAT(read_file(folder_ + "/server.stderr").value(), HasSubstr("no torch here"));
  EXPECT_THAT(s->fork(echo(), Seconds(20)).error().message, HasSubstr("the fork server is gone"));

  auto without_log = ForkServer::start("python3", folder_ + "/broken.py", "");
  ASSERT_TRUE(without_log.ok());
  EXPECT_EQ(without_log.value()->fork(echo(), Seconds(20)).error().message, wanted);
}

TEST_F(ForkServerTest, AServerThatIsTooSlowIsATimeout) {
  put("slow.py", "import time\ntime.sleep(60)\n");
  const auto child = server("slow.py")->fork(echo(), Seconds(0.2));
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().code, Code::kTimeout);
}

TEST_F(ForkServerTest, WithoutPythonSaysSo) {
  const auto started = ForkServer::start("/nonexistent/python", folder_ + "/server.py", "");
  ASSERT_FALSE(started.ok());
  EXPECT_THAT(started.error().message, HasSubstr("/nonexistent/python"));
}

}  // namespace
}  // namespace kagent
