// kagent run --slurm, from prompts to verdicts. tests/agent/slurm has what becomes of killed and requeued jobs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "agent/base/file.h"
#include "tests/agent/command/program.h"

namespace kagent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class RunBySlurm : public ::testing::Test {
 protected:
  RunBySlurm() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    ::setenv("SLURM_CONF", (folder_ + "/cluster/slurm.conf").c_str(), 1);
  }
  ~RunBySlurm() override {
    fs::remove_all(folder_);
    ::unsetenv("SLURM_CONF");
  }
  // Answers without blocks: judged without torch.
  [[nodiscard]] std::string words() const {
    for (const char* name : {"3-1.1", "3-1.2", "3-4.1", "3-4.2"})
      EXPECT_TRUE(write_file(folder_ + "/spool/" + name + ".answer.md", "Sorry.").ok());
    return "run --tasks 3/1,3/4 --samples 2 --backend none --no-wait --model spool:" + folder_ + "/spool --run " +
           folder_ + "/run --slurm --slurm-shards 2 --slurm-option time=5";
  }
  static int in_shell(const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string folder_ = (fs::temp_directory_path() / ("kagent-by-slurm-" + std::to_string(::getpid()))).string();
};

TEST_F(RunBySlurm, AsksHereAndJudgesThere) {
  const std::string cluster = std::string(KAGENT_SOURCE_DIR) + "/tests/slurm/cluster.sh";
  const int started = in_shell(cluster + " start " + folder_ + "/cluster > " + folder_ + "/said 2>&1");
  if (started == 77) GTEST_SKIP() << read_file(folder_ + "/said").value();
  ASSERT_EQ(started, 0) << read_file(folder_ + "/said").value();
  const Outcome outcome = run_kagent(words());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("with 2 elements"));
  EXPECT_THAT(outcome.text, HasSubstr("every task has ended"));
  EXPECT_THAT(run_kagent("log verify " + folder_ + "/run").text, HasSubstr("whole; 2 tasks"));
  EXPECT_EQ(in_shell(cluster + " stop " + folder_ + "/cluster"), 0);
}

TEST_F(RunBySlurm, WithoutSlurmSaysSoBeforeAnythingIsAsked) {
  const std::string path = ::getenv("PATH");
  fs::create_directories(folder_ + "/bin");
  fs::create_symlink("/bin/sh", folder_ + "/bin/sh");
  ::setenv("PATH", (folder_ + "/bin").c_str(), 1);
  const Outcome outcome = run_kagent(words());
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.text, HasSubstr("kagent: there is no squeue here"));
  EXPECT_FALSE(fs::exists(folder_ + "/run"));
}

TEST_F(RunBySlurm, RefusesAnOptionThatItSetsItself) {
  const Outcome outcome = run_kagent(words() + " --slurm-option array=0-99");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.text, HasSubstr("kagent sets --array itself"));
}

}  // namespace
}  // namespace kagent
