// Job arrays, with scripts that stand on PATH under the names of Slurm's programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "agent/base/file.h"
#include "agent/slurm/program.h"
#include "agent/slurm/rounds.h"

namespace kagent::slurm {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Slurm : public ::testing::Test {
 protected:
  Slurm() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ + "/bin");
    ::setenv("PATH", (folder_ + "/bin:" + path_).c_str(), 1);
    array_ = {"kagent-x", {"/opt/kagent", "judge-run", "it's a run"}, 4, {0, 2}, folder_ + "/logs", {"partition=gpu"}};
  }
  ~Slurm() override {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }
  void program(const std::string& name, const std::string& script) const {
    const std::string path = folder_ + "/bin/" + name;
    ASSERT_TRUE(write_file(path, "#!/bin/bash\ncd " + folder_ + "\n" + script).ok());
    fs::permissions(path, fs::perms::owner_all);
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    Result<std::string> text = read_file(folder_ + "/" + name);
    return text ? text.value() : "";
  }
  [[nodiscard]] FollowHooks hooks() {
    return {[this] { return stop_; }, [this](std::string_view line) { said_.emplace_back(line); }, 0.01, 0.5};
  }

  std::string path_ = ::getenv("PATH");
  std::string folder_ = (fs::temp_directory_path() / ("kagent-slurm-" + std::to_string(::getpid()))).string();
  Array array_;
  bool stop_ = false;
  std::vector<std::string> said_;
};

TEST_F(Slurm, SubmitsAnArrayThatMayBeRequeuedAndCarriesNoKeys) {
  program("sbatch", "printf '%s\\n' \"$@\" > arguments; cat > script; echo '77;cluster'\n");
  const Result<std::string> job = submit(array_);
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job.value(), "77");
  EXPECT_THAT(file("arguments"),
              AllOf(HasSubstr("--requeue\n"), HasSubstr("--array=0,2\n"), HasSubstr("--partition=gpu\n"),
                    HasSubstr("--export=PATH,HOME"), Not(HasSubstr("API_KEY")), Not(HasSubstr("ALL"))));
  EXPECT_THAT(file("script"),
              HasSubstr("'/opt/kagent' 'judge-run' 'it'\\''s a run' --shard \"$SLURM_ARRAY_TASK_ID/4\""));
}

// 4 is the exit code of a half that did what there was to do.
TEST_F(Slurm, AnElementThatWaitsForMoreAnswersHasNotFailed) {
  for (const auto& [code, becomes] : {std::pair(0, 0), std::pair(4, 0), std::pair(2, 2)}) {
    array_.command = {"/bin/sh", "-c", "exit " + std::to_string(code)};
    ASSERT_TRUE(write_file(folder_ + "/script", job_script(array_)).ok());
    EXPECT_EQ(WEXITSTATUS(std::system(("SLURM_ARRAY_TASK_ID=1 bash " + folder_ + "/script").c_str())), becomes);
  }
}

TEST_F(Slurm, WithoutItsProgramsSaysWhatToDo) {
  ::setenv("PATH", (folder_ + "/bin").c_str(), 1);
  EXPECT_EQ(submit(array_).error().code, Code::kUsage);
  EXPECT_THAT(submit(array_).error().message, HasSubstr("there is no sbatch here"));
  EXPECT_THAT(follow("kagent-x", hooks()).error().message, HasSubstr("there is no squeue here"));
}

TEST_F(Slurm, PassesOnWhatSbatchRefuses) {
  program("sbatch", "echo 'sbatch: error: invalid partition specified: gpu' >&2; exit 1\n");
  EXPECT_EQ(submit(array_).error().message, "sbatch failed: sbatch: error: invalid partition specified: gpu");
  program("sbatch", "echo 'Submitted, maybe'\n");
  EXPECT_THAT(submit(array_).error().message, HasSubstr("did not say which job"));
}

TEST_F(Slurm, RefusesOptionsThatAreNoneOrItsOwn) {
  EXPECT_TRUE(valid_options({"gres=gpu:1", "time=02:00:00", "exclusive"}).ok());
  for (const char* wrong : {"--partition=gpu", "", "=x", "a b=c", "array=0-9", "export=ALL", "no-requeue"})
    EXPECT_EQ(valid_options({wrong}).error().code, Code::kUsage) << wrong;
}

TEST_F(Slurm, ReadsTheQueue) {
  const auto elements =
      parse_queue("1_0|RUNNING|None\n1_[1-3]|PENDING|Resources\nslurm_load_jobs error\n|x|y\n1_4|PENDING|Priority");
  ASSERT_EQ(elements.size(), 3U);
  EXPECT_EQ(elements[1].id, "1_[1-3]");
  EXPECT_EQ(queue_line(elements), "2 pending (Priority, Resources), 1 running");
}

TEST_F(Slurm, FollowsUntilTheQueueIsEmptyAndSaysWhatChanges) {
  program("squeue",
          "n=$(cat n || echo 0); echo $((n + 1)) > n\n"
          "case $n in 0|1) echo '7_0|PENDING|Resources';; 2) echo '7_0|RUNNING|None';; esac 2>/dev/null\n");
  ASSERT_TRUE(follow("kagent-x", hooks()).ok());
  EXPECT_THAT(said_, ElementsAre("1 pending (Resources)", "1 running"));
}

TEST_F(Slurm, OutlastsAControllerThatIsGoneForAWhile) {
  program("squeue",
          "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n\n"
          "[ $n -gt 2 ] || { echo 'Unable to contact slurm controller' >&2; exit 1; }\n");
  ASSERT_TRUE(follow("kagent-x", hooks()).ok());
  EXPECT_THAT(said_, ElementsAre(HasSubstr("Unable to contact slurm controller; looking again")));
  program("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1\n");
  EXPECT_THAT(follow("kagent-x", hooks()).error().message, HasSubstr("Unable to contact"));
}

TEST_F(Slurm, StoppedLeavesTheJobsToRunOn) {
  program("squeue", "echo '7_0|RUNNING|None'\n");
  program("scancel", "touch cancelled\n");
  stop_ = true;
  EXPECT_EQ(follow("kagent-x", hooks()).error().code, Code::kCancelled);
  EXPECT_EQ(file("cancelled"), "");
}

TEST_F(Slurm, GoesRoundByRoundUntilNothingIsLeftToJudge) {
  program("squeue", "true\n");
  program("sbatch",
          "for a in \"$@\"; do case $a in --array=*) echo $a >> arrays;; esac; done; cat > /dev/null; echo 5\n");
  std::vector<Asked> asked = {{{0, 1, 5}, 0}, {{5}, 2}, {{}, 3}};
  std::size_t round = 0;
  ASSERT_TRUE(judge_in_rounds(array_, 6, {[&]() -> Result<Asked> { return asked[round++]; }, hooks()}).ok());
  EXPECT_EQ(file("arrays"), "--array=0,1\n--array=1\n");
}

TEST_F(Slurm, ARoundThatJudgedNothingIsAnErrorThatNamesTheLogs) {
  program("squeue", "true\n");
  program("sbatch", "cat > /dev/null; echo 5\n");
  const Status stuck = judge_in_rounds(array_, 6, {[]() -> Result<Asked> { return Asked{{0}, 3}; }, hooks()});
  ASSERT_FALSE(stuck.ok());
  EXPECT_THAT(stuck.error().message, HasSubstr(folder_ + "/logs has their logs"));
}

TEST_F(Slurm, AProgramThatHangsIsEnded) {
  program("hangs", "sleep 60\n");
  EXPECT_EQ(run_program({"hangs"}, "", 0.2).error().code, Code::kTimeout);
}

}  // namespace
}  // namespace kagent::slurm
