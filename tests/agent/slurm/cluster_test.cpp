// A run judged by a real Slurm on this machine: elements are killed and requeued, and nothing is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "agent/run/run_directory.h"
#include "agent/run/verify.h"
#include "agent/slurm/program.h"
#include "agent/slurm/rounds.h"

namespace kagent::slurm {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kCluster = std::string(KAGENT_SOURCE_DIR) + "/tests/slurm/cluster.sh";

class Cluster : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    fs::remove_all(cluster_);
    const int status = std::system((kCluster + " start " + cluster_ + " > " + cluster_ + ".said 2>&1").c_str());
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ::setenv("SLURM_CONF", (cluster_ + "/slurm.conf").c_str(), 1);
  }
  static void TearDownTestSuite() {
    if (exit_code_ == 0) {
      EXPECT_EQ(std::system((kCluster + " stop " + cluster_).c_str()), 0);
    }
    fs::remove_all(cluster_);
    fs::remove(cluster_ + ".said");
  }
  void SetUp() override {
    if (exit_code_ == 77)
      GTEST_SKIP() << "no slurmctld, slurmd or munged here: apt-get install slurmctld slurmd slurm-client munge";
    ASSERT_EQ(exit_code_, 0) << std::system(("cat " + cluster_ + ".said").c_str());
    fs::remove_all(folder_);
    run_ = std::make_unique<run::RunDirectory>(
        run::RunDirectory::create_or_resume(folder_, {{"tasks", kTasks}}, {}).value());
    array_ = {array_name(run_->manifest_sha256()), {}, 2, {}, folder_ + "/slurm", {"time=5"}};
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Elements that take so long a sample.
  void elements_take(const std::string& seconds) {
    const fs::path bin = fs::read_symlink("/proc/self/exe").parent_path();
    array_.command = {(bin / "slurm_element").string(), folder_, seconds};
  }

  // The half that asks: a task's next sample once the one before has its verdict; two each.
  Result<Asked> ask() {
    Asked asked;
    for (std::size_t i = 0; i < kTasks.size(); ++i) {
      auto log = run_->open_task(kTasks[i]);
      if (!log) return log.error();
      const auto add = [&](const char* kind, const nlohmann::json& body) {
        EXPECT_TRUE(log.value()->append(kind, body).ok());
      };
      if (log.value()->events().empty()) add("start", {{"task", kTasks[i]}});
      auto samples = log.value()->state().samples;
      if (samples.size() < 2 && (samples.empty() || samples.back().verdict)) {
        const std::string answer = log.value()->blobs().put(kTasks[i] + std::to_string(samples.size())).value();
        add("reply", {{"sample", samples.size() + 1}, {"answer_sha256", answer}});
        samples = log.value()->state().samples;
      }
      for (const auto& sample : samples) asked.verdicts += sample.verdict ? 1 : 0;
      if (!samples.back().verdict) {
        asked.tasks_to_judge.push_back(static_cast<int>(i));
      } else if (!log.value()->state().ended) {
        add("end", {{"reason", "all samples used"}});
      }
    }
    return asked;
  }
  RoundHooks hooks() {
    return {[this] { return ask(); },
            {[this] { return stop_.load(); }, [this](std::string_view line) { said_ += std::string(line) + "\n"; }, 0.3,
             30}};
  }

  // The id of an element that runs; waits for one.
  std::string running(const std::set<std::string>& but = {}) {
    for (int i = 0; i < 200; ++i) {
      const auto elements = queued(array_.name);
      for (const Element& element : elements ? elements.value() : std::vector<Element>()) {
        if (element.state == "RUNNING" && but.count(element.id) == 0) return element.id;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ADD_FAILURE() << "no element runs";
    return "";
  }
  // Waits until so many samples are being judged.
  void in_the_midst(int samples) {
    for (int i = 0; i < 600; ++i) {
      int busy = 0;
      for (const std::string& task : kTasks) {
        const auto log = run_->read_task(task);
        busy += log && !log.value().events.empty() && log.value().events.back()["kind"] == "judge" ? 1 : 0;
      }
      if (busy >= samples) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ADD_FAILURE() << "no " << samples << " samples are being judged";
  }
  // Slurm holds a requeued job back for two minutes; a test does not wait.
  void release(const std::string& id) {
    for (int i = 0; i < 200; ++i) {
      const auto elements = queued(array_.name);
      for (const Element& element : elements ? elements.value() : std::vector<Element>()) {
        if (element.id != id || element.reason != "BeginTime") continue;
        if (run_program({"scontrol", "update", "JobId=" + id, "StartTime=now"}, "")) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ADD_FAILURE() << id << " was not requeued";
  }
  // Every sample judged once, each log whole and ended.
  void expect_whole() {
    const run::VerifyReport report = run::verify(*run_, std::nullopt).value();
    EXPECT_TRUE(report.problems.empty()) << report.problems[0];
    for (const std::string& task : kTasks) {
      const auto samples = run::state_of(run_->read_task(task).value().events).samples;
      ASSERT_EQ(samples.size(), 2U) << task;
      for (const auto& sample : samples) EXPECT_TRUE(sample.verdict) << task << " sample " << sample.number;
    }
  }

  static const std::vector<std::string> kTasks;
  static inline std::string cluster_ =
      (fs::temp_directory_path() / ("kagent-cluster-" + std::to_string(::getpid()))).string();
  static inline int exit_code_ = -1;
  std::string folder_ = cluster_ + "-run";
  std::unique_ptr<run::RunDirectory> run_;
  Array array_;
  std::atomic<bool> stop_ = false;
  std::string said_;
};
const std::vector<std::string> Cluster::kTasks = {"3/1", "3/2", "3/3", "3/4"};

TEST_F(Cluster, JudgesARunInRounds) {
  elements_take("0.1");
  const Status done = judge_in_rounds(array_, 4, hooks());
  ASSERT_TRUE(done.ok()) << done.error().message;
  expect_whole();
  EXPECT_THAT(said_, HasSubstr("with 2 elements"));
}

TEST_F(Cluster, LosesNothingWhenAnElementIsKilledAndAnotherRequeued) {
  elements_take("3");
  Status done = Ok{};
  std::thread command([&] { done = judge_in_rounds(array_, 4, hooks()); });
  const std::string killed = running();
  in_the_midst(2);
  EXPECT_TRUE(run_program({"scancel", "--signal=KILL", "--full", killed}, "").ok());
  const std::string requeued = running({killed});
  EXPECT_TRUE(run_program({"scontrol", "requeue", requeued}, "").ok());
  release(requeued);
  command.join();
  ASSERT_TRUE(done.ok()) << done.error().message;
  expect_whole();
  int judged_again = 0;
  for (const std::string& task : kTasks) {
    const auto events = run_->read_task(task).value().events;
    judged_again += static_cast<int>(std::count_if(events.begin(), events.end(),
                                                   [](const auto& e) { return e["kind"] == "judge"; })) -
                    2;
  }
  EXPECT_GE(judged_again, 1) << "the kill came too late to show anything";
}

TEST_F(Cluster, AStoppedCommandLeavesItsJobsAndTheNextPicksThemUp) {
  elements_take("1");
  std::thread stopper([&] {
    running();
    stop_ = true;
  });
  EXPECT_EQ(judge_in_rounds(array_, 4, hooks()).error().code, Code::kCancelled);
  stopper.join();
  EXPECT_FALSE(queued(array_.name).value().empty());
  stop_ = false;
  said_.clear();
  const Status done = judge_in_rounds(array_, 4, hooks());
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_THAT(said_.substr(0, said_.find('\n')), HasSubstr("running")) << "it follows before it submits";
  expect_whole();
}

}  // namespace
}  // namespace kagent::slurm
