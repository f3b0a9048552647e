#include "agent/solve/solve.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>
#include <filesystem>

#include "agent/run/run_directory.h"
#include "agent/run/verify.h"

namespace kagent {
namespace {

const std::string kGood = "```cuda\n__global__ void k() {}\n```\n```python\nclass ModelNew(Model): pass\n```\n";

// Answers from a list; what it was asked is kept.
class FakeProvider : public llm::Provider {
 public:
  std::deque<Result<llm::Answer>> answers;
  std::vector<llm::Request> asked;
  bool stands = false;
  std::function<void(llm::Progress&)> meanwhile;  // what happens while a request is in flight

  [[nodiscard]] bool requests_stand() const override { return stands; }
  [[nodiscard]] std::string name() const override { return "fake:model"; }
  Status check() override { return Ok{}; }
  Result<llm::Answer> complete(const llm::Request& request, llm::Progress& progress) override {
    asked.push_back(request);
    progress.attempt({1, 429, "busy", 0.1, 0.2, "", {}});
    if (meanwhile) meanwhile(progress);
    if (answers.empty()) return Error{Code::kTransport, "no more fake answers"};
    Result<llm::Answer> next = answers.front();
    answers.pop_front();
    return next;
  }
  void reply(const std::string& text) {
    llm::Reply r;
    r.text = text;
    r.model = "fake-1";
    r.provider = "fake";
    answers.emplace_back(llm::Answer(r));
  }
};

class Solve : public ::testing::Test {
 protected:
  Solve() {
    std::filesystem::remove_all(folder_);
    auto created = run::RunDirectory::create_or_resume(folder_, {{"tasks", {"3/4"}}}, {});
    run_ = std::make_unique<run::RunDirectory>(created.value());
    task_.id = "3/4";
    task_.source = "class Model: pass\n";
    prompts_ = load_prompt_set(KAGENT_SOURCE_DIR, "default").value();
    settings_.max_samples = 3;
  }
  ~Solve() override { std::filesystem::remove_all(folder_); }

  Result<SolveEnd> solve_now() {
    auto log = run_->open_task("3/4").value();
    const SolveContext context{task_, prompts_, {{"name", "GPU"}}, *log, settings_};
    const auto open_judge = [this]() -> Result<JudgeAnswer> {
      ++judges_opened_;
      return JudgeAnswer([this](const Program& program, const Seeds& seeds, Artifacts& artifacts) {
        judged_.push_back(program.cuda);
        seeds_.push_back(to_json(seeds));
        artifacts["plan.json"] = "{}";
        Verdict verdict = verdicts_.front();
        if (verdicts_.size() > 1) verdicts_.pop_front();
        return verdict;
      });
    };
    return solve(context, &provider_,
                 {open_judge, [](const llm::Reply&) { return nlohmann::json("unknown"); }, [](std::string_view) {},
                  [this] { return stopped_; }, may_ask_});
  }
  run::TaskState state() { return run::state_of(run_->read_task("3/4").value().events); }

  static Verdict verdict(Outcome outcome, bool faster, const char* tier = "tf32") {
    Verdict v;
    v.task = "3/4";
    v.outcome = outcome;
    v.faster = faster;
    v.backend = "cuda";
    v.plan["tier"] = tier;
    if (outcome != Outcome::kAccepted)
      v.failure = Failure{"compile", "compile_error", "it says no", std::nullopt, "cuda", ""};
    return v;
  }

  std::string folder_ =
      (std::filesystem::temp_directory_path() / ("kagent-solve-" + std::to_string(::getpid()))).string();
  std::unique_ptr<run::RunDirectory> run_;
  Task task_;
  PromptSet prompts_;
  SolveSettings settings_;
  FakeProvider provider_;
  std::deque<Verdict> verdicts_ = {verdict(Outcome::kRejected, false), verdict(Outcome::kAccepted, true)};
  std::vector<std::string> judged_;
  std::vector<nlohmann::json> seeds_;
  int judges_opened_ = 0;
  bool stopped_ = false;
  std::function<Result<MayAsk>(const llm::Request&)> may_ask_;
};

TEST_F(Solve, UsesEverySampleFeedsBackAndLogsWhole) {
  for (int i = 0; i < 3; ++i) provider_.reply(kGood);
  const auto end = solve_now();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end.value(), SolveEnd::kSolved);
  EXPECT_EQ(provider_.asked.size(), 3U);
  EXPECT_EQ(judges_opened_, 1);
  EXPECT_EQ(provider_.asked[0].prompt.find("it says no"), std::string::npos);
  EXPECT_NE(provider_.asked[1].prompt.find("it says no"), std::string::npos);
  EXPECT_TRUE(run::verify(*run_, std::nullopt).value().problems.empty());
  // A second command on a finished run asks nothing and says the same.
  EXPECT_EQ(solve_now().value(), SolveEnd::kSolved);
  EXPECT_EQ(provider_.asked.size(), 3U);
}

TEST_F(Solve, StopsAtTheFirstFasterOneWhenAsked) {
  settings_.stop_when_faster = true;
  for (int i = 0; i < 3; ++i) provider_.reply(kGood);
  EXPECT_EQ(solve_now().value(), SolveEnd::kSolved);
  EXPECT_EQ(provider_.asked.size(), 2U);
}

TEST_F(Solve, GoesOnAfterAFasterOneThatDoesNotCountAndSaysSo) {
  settings_.stop_when_faster = true;
  verdicts_ = {verdict(Outcome::kAccepted, true, "any"), verdict(Outcome::kAccepted, true)};
  for (int i = 0; i < 3; ++i) provider_.reply(kGood);
  EXPECT_EQ(solve_now().value(), SolveEnd::kSolved);
  ASSERT_EQ(provider_.asked.size(), 2U);
  EXPECT_NE(provider_.asked[1].prompt.find("correct and faster, but it does not count"), std::string::npos);
}

TEST_F(Solve, IndependentSamplesSeeTheSamePrompt) {
  settings_.protocol = Protocol::kIndependent;
  for (int i = 0; i < 3; ++i) provider_.reply(kGood);
  ASSERT_TRUE(solve_now().ok());
  EXPECT_EQ(provider_.asked[0].prompt, provider_.asked[2].prompt);
}

TEST_F(Solve, AReplyWithoutBlocksIsASampleThatNeedsNoJudge) {
  settings_.max_samples = 1;
  provider_.reply("Sorry.");
  EXPECT_EQ(solve_now().value(), SolveEnd::kNotSolved);
  EXPECT_EQ(judges_opened_, 0);
  EXPECT_EQ((*state().samples[0].verdict)["verdict"]["kind"], "no_blocks");
}

TEST_F(Solve, WaitsWithoutCountingASample) {
  provider_.answers.emplace_back(llm::Answer(llm::Pending{"3-4.1.prompt.md", "3-4.1.answer.md"}));
  EXPECT_EQ(solve_now().value(), SolveEnd::kWaiting);
  EXPECT_FALSE(state().samples[0].reply);
  for (int i = 0; i < 3; ++i) provider_.reply(kGood);
  EXPECT_EQ(solve_now().value(), SolveEnd::kSolved);
  EXPECT_EQ(provider_.asked.size(), 4U);
  EXPECT_EQ(provider_.asked[0].prompt, provider_.asked[1].prompt);
}

TEST_F(Solve, ATransportFailureIsLoggedAndDoesNotCount) {
  const auto failed = solve_now();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, Code::kTransport);
  EXPECT_FALSE(state().samples[0].reply);
  EXPECT_EQ(run_->read_task("3/4").value().events.back()["kind"], "attempt");
}

TEST_F(Solve, JudgesALoggedReplyAgainWithTheSameSeedsAndAsksNothing) {
  settings_.max_samples = 1;
  provider_.reply(kGood);
  verdicts_ = {verdict(Outcome::kError, false), verdict(Outcome::kAccepted, true)};
  const auto failed = solve_now();  // the machine failed while judging
  ASSERT_FALSE(failed.ok());
  EXPECT_FALSE(state().samples[0].verdict);
  EXPECT_EQ(solve_now().value(), SolveEnd::kSolved);
  EXPECT_EQ(provider_.asked.size(), 1U);
  ASSERT_EQ(seeds_.size(), 2U);
  EXPECT_EQ(seeds_[0], seeds_[1]);
}

TEST_F(Solve, ThatCouldNotDecideAnythingSaysSo) {
  settings_.max_samples = 1;
  provider_.reply(kGood);
  verdicts_ = {verdict(Outcome::kUndecided, false)};
  EXPECT_EQ(solve_now().value(), SolveEnd::kUndecided);
}

TEST_F(Solve, TheHalvesTakeTurnsOverOneLog) {
  for (int i = 0; i < 3; ++i) provider_.reply(kGood);
  settings_.part = Part::kGenerate;
  EXPECT_EQ(solve_now().value(), SolveEnd::kWaiting);
  EXPECT_EQ(solve_now().value(), SolveEnd::kWaiting);  // nothing to do before the verdict
  EXPECT_EQ(provider_.asked.size(), 1U);
  EXPECT_TRUE(judged_.empty());
  for (int turn = 1; turn <= 3; ++turn) {
    settings_.part = Part::kJudge;
    EXPECT_EQ(solve_now().value(), turn < 3 ? SolveEnd::kWaiting : SolveEnd::kSolved);
    EXPECT_EQ(judged_.size(), static_cast<std::size_t>(turn));
    settings_.part = Part::kGenerate;
    EXPECT_EQ(solve_now().value(), turn < 3 ? SolveEnd::kWaiting : SolveEnd::kSolved);
  }
  EXPECT_EQ(provider_.asked.size(), 3U);
  EXPECT_NE(provider_.asked[1].prompt.find("it says no"), std::string::npos);
}

TEST_F(Solve, IndependentSamplesAreAllAskedForAtOnceAndJudgedInAnyOrder) {
  settings_.protocol = Protocol::kIndependent;
  settings_.part = Part::kGenerate;
  for (int i = 0; i < 3; ++i) provider_.answers.emplace_back(llm::Answer(llm::Pending{"prompt", "answer"}));
  EXPECT_EQ(solve_now().value(), SolveEnd::kWaiting);
  EXPECT_EQ(provider_.asked.size(), 3U);
  provider_.answers.emplace_back(llm::Answer(llm::Pending{"prompt", "answer"}));
  for (int i = 0; i < 2; ++i) provider_.reply(kGood);
  EXPECT_EQ(solve_now().value(), SolveEnd::kWaiting);
  settings_.part = Part::kJudge;
  EXPECT_EQ(solve_now().value(), SolveEnd::kWaiting);
  EXPECT_EQ(judged_.size(), 2U);
  EXPECT_FALSE(state().samples[0].verdict);
  EXPECT_TRUE(state().samples[2].verdict);
}

// A folder of prompts: all are there before anybody is waited for, and none waits for a verdict.
TEST_F(Solve, IndependentPromptsThatStandAreAllOutBeforeTheFirstAnswerIsWaitedFor) {
  settings_.protocol = Protocol::kIndependent;
  provider_.stands = true;
  for (int i = 0; i < 3; ++i) provider_.answers.emplace_back(llm::Answer(llm::Pending{"prompt", "answer"}));
  for (int i = 0; i < 3; ++i) provider_.reply(kGood);
  EXPECT_EQ(solve_now().value(), SolveEnd::kSolved);
  ASSERT_EQ(provider_.asked.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(provider_.asked[i].sample, static_cast<int>(i % 3) + 1);
    EXPECT_EQ(provider_.asked[i].wait, i >= 3);
  }
  for (const run::SampleState& sample : state().samples) EXPECT_EQ(sample.requests, 1);
  EXPECT_TRUE(run::verify(*run_, std::nullopt).value().problems.empty());
}

TEST_F(Solve, FeedbackPromptsThatStandWaitForEachOther) {
  provider_.stands = true;
  provider_.answers.emplace_back(llm::Answer(llm::Pending{"prompt", "answer"}));
  EXPECT_EQ(solve_now().value(), SolveEnd::kWaiting);
  EXPECT_EQ(provider_.asked.size(), 1U);
  EXPECT_TRUE(provider_.asked[0].wait);
}

TEST_F(Solve, AStopBeforeJudgingIsNoErrorTheSampleWaits) {
  settings_.max_samples = 1;
  provider_.reply(kGood);
  verdicts_.front() = verdict(Outcome::kError, false);
  verdicts_.front().failure->kind = kStopAsked;
  EXPECT_EQ(solve_now().value(), SolveEnd::kStopped);
  EXPECT_FALSE(state().samples[0].verdict);
  EXPECT_NE(run_->read_task("3/4").value().events.back()["kind"], "resume");  // nothing is said to have failed
  EXPECT_EQ(solve_now().value(), SolveEnd::kSolved);
}

TEST_F(Solve, StopsBetweenStepsAndGoesOn) {
  for (int i = 0; i < 3; ++i) provider_.reply(kGood);
  stopped_ = true;
  EXPECT_EQ(solve_now().value(), SolveEnd::kStopped);
  EXPECT_TRUE(provider_.asked.empty());
  stopped_ = false;
  EXPECT_EQ(solve_now().value(), SolveEnd::kSolved);
}

TEST_F(Solve, APromptThatStandsIsOneRequestHoweverOftenItIsLookedFor) {
  provider_.stands = true;
  for (int look = 0; look < 2; ++look) {
    provider_.answers.emplace_back(llm::Answer(llm::Pending{"3-4.1.prompt.md", "3-4.1.answer.md"}));
    EXPECT_EQ(solve_now().value(), SolveEnd::kWaiting);
  }
  EXPECT_EQ(provider_.asked.size(), 2U);
  EXPECT_EQ(state().samples[0].requests, 1);
}

TEST_F(Solve, AStopWaitsForTheReplyThatIsOnItsWayAndLogsIt) {
  provider_.reply(kGood);
  provider_.meanwhile = [this](llm::Progress& progress) {
    stopped_ = true;
    progress.attempt({1, 200, "", 0.1, 0, "", {}});  // nothing is waited for between two attempts
    EXPECT_FALSE(progress.cancelled());
  };
  EXPECT_EQ(solve_now().value(), SolveEnd::kStopped);
  EXPECT_TRUE(state().samples[0].reply);
  EXPECT_FALSE(state().samples[0].verdict);  // and nothing new is begun
  EXPECT_TRUE(judged_.empty());
}

TEST_F(Solve, AStopGivesUpWhatNobodyIsPaidFor) {
  provider_.meanwhile = [this](llm::Progress& progress) {
    stopped_ = true;
    progress.attempt({1, 429, "busy", 0.1, 60, "", {}});
    EXPECT_TRUE(progress.cancelled());  // between two attempts
  };
  provider_.answers.emplace_back(Error{Code::kCancelled, "cancelled"});
  EXPECT_EQ(solve_now().value(), SolveEnd::kStopped);
  stopped_ = false;
  provider_.stands = true;
  provider_.meanwhile = [this](llm::Progress& progress) {
    stopped_ = true;
    EXPECT_TRUE(progress.cancelled());  // the prompt stands
  };
  provider_.answers.emplace_back(Error{Code::kCancelled, "cancelled"});
  EXPECT_EQ(solve_now().value(), SolveEnd::kStopped);
}

TEST_F(Solve, ARequestIsLoggedWithTheMostThatItCanCost) {
  settings_.max_samples = 1;
  provider_.reply(kGood);
  may_ask_ = [](const llm::Request&) -> Result<MayAsk> { return MayAsk{0.5, nullptr}; };
  ASSERT_TRUE(solve_now().ok());
  EXPECT_EQ(run_->read_task("3/4").value().events[1]["most_usd"], 0.5);
}

TEST_F(Solve, AsksNothingWithoutMoney) {
  provider_.reply(kGood);
  may_ask_ = [](const llm::Request&) -> Result<MayAsk> { return Error{Code::kCancelled, "the budget is used up"}; };
  EXPECT_EQ(solve_now().value(), SolveEnd::kStopped);
  EXPECT_TRUE(provider_.asked.empty());
  EXPECT_EQ(state().samples.size(), 0U);  // not even a request in the log
}

}  // namespace
}  // namespace kagent
