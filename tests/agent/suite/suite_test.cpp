#include "agent/suite/suite.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "agent/run/verify.h"

namespace kagent::suite {
namespace {

const std::string kGood = "```cuda\n__global__ void k() {}\n```\n```python\nclass ModelNew(Model): pass\n```\n";

class FakeProvider : public llm::Provider {
 public:
  explicit FakeProvider(std::atomic<int>& asked) : asked_(asked) {}
  [[nodiscard]] std::string name() const override { return "fake:model"; }
  Status check() override { return Ok{}; }
  Result<llm::Answer> complete(const llm::Request& request, llm::Progress&) override {
    ++asked_;
    if (request.task == "3/2") return Error{Code::kTransport, "no route to it"};
    llm::Reply reply;
    reply.text = kGood;
    reply.usage = {1000, 1000, {}, {}};
    return llm::Answer(reply);
  }

 private:
  std::atomic<int>& asked_;
};

class Suite : public ::testing::Test {
 protected:
  Suite() {
    std::filesystem::remove_all(folder_);
    nlohmann::json ids = nlohmann::json::array();
    for (const char* id : {"3/1", "3/2", "3/3", "3/4"}) {
      Task task;
      task.id = id;
      task.source = "class Model: pass\n";
      tasks_.push_back(task);
      ids.push_back(id);
    }
    run_ =
        std::make_unique<run::RunDirectory>(run::RunDirectory::create_or_resume(folder_, {{"tasks", ids}}, {}).value());
    prompts_ = load_prompt_set(KAGENT_SOURCE_DIR, "default").value();
    settings_.in_flight = 3;
    settings_.solve.max_samples = 2;
  }
  ~Suite() override { std::filesystem::remove_all(folder_); }

  std::vector<TaskEnd> go(Tally& tally, Budget& budget) {
    std::vector<std::unique_ptr<llm::Provider>> providers;
    for (int i = 0; i < settings_.in_flight; ++i) providers.push_back(std::make_unique<FakeProvider>(asked_));
    const SuiteContext context{*run_, tasks_, prompts_, {{"name", "GPU"}}, settings_, price_, budget, tally};
    EXPECT_TRUE(restore(context).ok());
    return run_suite(context, providers,
                     {[this](const Task& task, const Program&, const Seeds&, Artifacts&, const Say&) {
                        ++judged_;
                        if (stop_after_ > 0 && judged_ >= stop_after_) stopped_ = true;
                        Verdict verdict;
                        verdict.task = task.id;
                        verdict.outcome = task.id == "3/4" ? Outcome::kRejected : Outcome::kAccepted;
                        verdict.faster = true;
                        verdict.backend = "cuda";
                        verdict.plan["tier"] = "tf32";
                        if (verdict.outcome == Outcome::kRejected)
                          verdict.failure = Failure{"compile", "compile_error", "no", std::nullopt, "", ""};
                        return verdict;
                      },
                      [](const llm::Reply&) {
                        return nlohmann::json{{"usd", 0.01}};
                      },
                      [this] { return stopped_.load(); }, [](const std::string&, std::string_view) {}, [] {}});
  }

  std::string folder_ =
      (std::filesystem::temp_directory_path() / ("kagent-suite-" + std::to_string(::getpid()))).string();
  std::unique_ptr<run::RunDirectory> run_;
  std::vector<Task> tasks_;
  PromptSet prompts_;
  SuiteSettings settings_;
  std::optional<llm::Price> price_ = llm::Price{"*", 1, 1, std::nullopt};
  std::atomic<int> asked_ = 0;
  std::atomic<int> judged_ = 0;
  std::atomic<bool> stopped_ = false;
  int stop_after_ = 0;
};

TEST_F(Suite, ATaskThatCannotGoOnHoldsUpNoOther) {
  Tally tally(4, 2);
  Budget budget(std::nullopt, price_);
  const std::vector<TaskEnd> ends = go(tally, budget);
  ASSERT_EQ(ends.size(), 4U);
  EXPECT_EQ(ends[0].end, SolveEnd::kSolved);
  EXPECT_EQ(ends[1].error, "no route to it");
  EXPECT_EQ(ends[2].end, SolveEnd::kSolved);
  EXPECT_EQ(ends[3].end, SolveEnd::kNotSolved);
  EXPECT_EQ(judged_, 6);
  const nlohmann::json now = tally.json();
  EXPECT_EQ(now["done"], 3);
  EXPECT_EQ(now["accepted"], 2);
  EXPECT_EQ(now["samples"], 6);
  EXPECT_NEAR(budget.spent_usd(), 0.06, 1e-9);
  const auto checked = run::verify(*run_, std::nullopt).value();
  EXPECT_EQ(checked.unfinished, 1);  // 3/2, and the logs are whole
  EXPECT_EQ(checked.problems.size(), 1U);
}

TEST_F(Suite, GoesOnWhereItWasStoppedAndPaysForNothingTwice) {
  stop_after_ = 2;
  {
    Tally tally(4, 2);
    Budget budget(std::nullopt, price_);
    const std::vector<TaskEnd> ends = go(tally, budget);
    EXPECT_TRUE(std::any_of(ends.begin(), ends.end(), [](const TaskEnd& e) { return e.end == SolveEnd::kStopped; }));
  }
  const int judged_before = judged_;
  stop_after_ = 0;
  stopped_ = false;
  Tally tally(4, 2);
  Budget budget(std::nullopt, price_);
  go(tally, budget);
  EXPECT_EQ(judged_, 6);
  EXPECT_EQ(tally.json()["samples_now"], 6 - judged_before);
  int replies = 0;
  for (const std::string& id : run_->tasks()) {
    const run::Chain chain = run_->read_task(id).value();
    for (const auto& event : chain.events) replies += event["kind"] == "reply" ? 1 : 0;
  }
  EXPECT_EQ(replies, 6);
}

TEST_F(Suite, ATaskThatAnotherProcessHoldsSaysSo) {
  Tally tally(4, 2);
  Budget budget(std::nullopt, price_);
  const auto held = run_->open_task("3/3").value();
  const std::vector<TaskEnd> ends = go(tally, budget);
  EXPECT_FALSE(ends[2].end);
  EXPECT_NE(ends[2].error.find("is being written by"), std::string::npos) << ends[2].error;
}

TEST(Tally, TellsDurationsInTheUnitThatFits) {
  EXPECT_EQ(duration_text(45), "45 s");
  EXPECT_EQ(duration_text(720), "12 min");
  EXPECT_EQ(duration_text(12600), "3.5 h");
}

}  // namespace
}  // namespace kagent::suite
