// Replay over a run in a temporary folder, with a judge that says what the test wants.
#include "agent/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>
#include <filesystem>

#include "agent/base/file.h"
#include "agent/replay/report.h"
#include "agent/task/task.h"

namespace kagent::replay {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kAnswer = "```cuda\n__global__ void k() {}\n```\n```python\nclass ModelNew(Model): pass\n```\n";

class ReplayTest : public ::testing::Test {
 protected:
  ReplayTest() {
    fs::remove_all(folder_);
    run_ = std::make_unique<run::RunDirectory>(
        run::RunDirectory::create_or_resume(folder_, {{"tasks", {"3/4", "x/y"}}}, {}).value());
  }
  ~ReplayTest() override { fs::remove_all(folder_); }

  // A judged sample; its judge event only if there are seeds.
  void log_sample(const std::string& task, int number, const Verdict& verdict, const json& seeds,
                  const std::string& answer = kAnswer, const std::string& source = "class Model: pass\n") {
    const auto log = run_->open_task(task).value();
    const auto add = [&](const char* kind, const json& body) { ASSERT_TRUE(log->append(kind, body).ok()); };
    if (log->events().empty()) add("start", {{"task", task}, {"task_sha256", log->blobs().put(source).value()}});
    add("reply", {{"sample", number}, {"answer_sha256", log->blobs().put(answer).value()}});
    if (!seeds.is_null()) add("judge", {{"sample", number}, {"seeds", seeds}});
    if (!verdict.task.empty()) add("verdict", {{"sample", number}, {"verdict", to_json(verdict)}});
  }
  static Verdict verdict(Outcome outcome, const std::string& stage = "visible") {
    Verdict v;
    v.task = "3/4";
    v.backend = "emulate";
    v.outcome = outcome;
    if (outcome != Outcome::kAccepted) v.failure = Failure{stage, "mismatch", "it says no", {}, "", ""};
    return v;
  }

  Result<Replay> replay_now(const std::string& task = "", int sample = 0) {
    const OpenReplayJudge open = [this](const std::string& id, const std::string& file,
                                        bool all_rules) -> Result<JudgeAnswer> {
      opened_.push_back(id + (all_rules ? " with all rules" : ""));
      if (!can_open_) return Error{Code::kInternal, "no Python"};
      files_.push_back(file);
      texts_.push_back(read_file(file).value());
      return JudgeAnswer([this](const Program&, const Seeds& seeds, Artifacts&) {
        seeds_.push_back(to_json(seeds));
        Verdict next = now_.front();
        if (now_.size() > 1) now_.pop_front();
        return next;
      });
    };
    return replay(
        *run_, {std::string(KAGENT_SOURCE_DIR) + "/tasks", task, sample, folder_ + "/small"}, open,
        [this](const Replay& so_far) -> Status {
          told_.push_back(so_far.samples.size());
          return Ok{};
        },
        [](std::string_view) {});
  }

  std::string folder_ = (fs::temp_directory_path() / ("kagent-replay-test-" + std::to_string(::getpid()))).string();
  std::unique_ptr<run::RunDirectory> run_;
  std::deque<Verdict> now_ = {verdict(Outcome::kAccepted)};
  bool can_open_ = true;
  std::vector<std::string> opened_, files_, texts_;
  std::vector<json> seeds_;
  std::vector<std::size_t> told_;
};

TEST_F(ReplayTest, JudgesEverySampleWithTheLoggedSeedsAndTask) {
  const json seeds = to_json(draw_seeds());
  log_sample("3/4", 1, verdict(Outcome::kAccepted), seeds);
  log_sample("3/4", 2, verdict(Outcome::kAccepted), to_json(draw_seeds()));
  const auto done = replay_now();
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done.value().count(Agreement::kEqual), 2);
  EXPECT_EQ(done.value().exit_code(), 0);
  ASSERT_EQ(seeds_.size(), 2U);
  EXPECT_EQ(seeds_[0], seeds);
  EXPECT_THAT(opened_, ElementsAre("3/4"));
  EXPECT_THAT(texts_, ElementsAre("class Model: pass\n"));
  EXPECT_TRUE(done.value().samples[0].task_from_log);
  EXPECT_FALSE(fs::exists(files_[0])) << "the private copy goes with the replay";
  EXPECT_THAT(told_, ElementsAre(1U, 2U));
}

TEST_F(ReplayTest, ARunOfSmallFormsIsJudgedWithThem) {
  fs::remove_all(folder_);
  run_ = std::make_unique<run::RunDirectory>(
      run::RunDirectory::create_or_resume(folder_, {{"tasks", {"3/4"}}, {"small", true}}, {}).value());
  const Task small = find_task({std::string(KAGENT_SOURCE_DIR) + "/tasks", "", "", folder_ + "/small"}, "3/4").value();
  log_sample("3/4", 1, verdict(Outcome::kAccepted), to_json(draw_seeds()), kAnswer, small.source);
  fs::remove_all(run_->folder() + "/blobs/" + small.source_sha256.substr(0, 2));  // the built-in one is enough
  const auto done = replay_now();
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_FALSE(done.value().samples[0].task_from_log);
  EXPECT_THAT(texts_, ElementsAre(small.source));
}

TEST_F(ReplayTest, UsesTheBuiltInTaskIfItIsTheSameText) {
  const Task task = find_task({std::string(KAGENT_SOURCE_DIR) + "/tasks", "", ""}, "3/4").value();
  log_sample("3/4", 1, verdict(Outcome::kAccepted), to_json(draw_seeds()), kAnswer, task.source);
  const auto done = replay_now();
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_FALSE(done.value().samples[0].task_from_log);
  EXPECT_THAT(files_, ElementsAre(task.path));
}

TEST_F(ReplayTest, ADifferenceExitsWithOneAndIsNamed) {
  log_sample("3/4", 1, verdict(Outcome::kAccepted), to_json(draw_seeds()));
  log_sample("3/4", 2, verdict(Outcome::kRejected), to_json(draw_seeds()));
  now_ = {verdict(Outcome::kAccepted), verdict(Outcome::kRejected, "hidden")};
  const auto done = replay_now();
  EXPECT_EQ(done.value().exit_code(), 1);
  EXPECT_THAT(to_text(done.value(), *run_),
              HasSubstr("differs: rejected at hidden (mismatch), logged rejected at visible"));
  EXPECT_EQ(to_json(done.value(), *run_, Verdicts::kShort)["counts"]["differs"], 1);
}

TEST_F(ReplayTest, NothingComparedExitsWithThree) {
  log_sample("3/4", 1, verdict(Outcome::kAccepted), to_json(draw_seeds()));
  now_ = {verdict(Outcome::kUndecided, "run")};
  EXPECT_EQ(replay_now().value().exit_code(), 3);
}

TEST_F(ReplayTest, AFailureOfTheMachineIsAnErrorAndTheNextSampleGetsAFreshJudge) {
  log_sample("3/4", 1, verdict(Outcome::kAccepted), to_json(draw_seeds()));
  log_sample("3/4", 2, verdict(Outcome::kAccepted), to_json(draw_seeds()));
  now_ = {verdict(Outcome::kError, "internal"), verdict(Outcome::kAccepted)};
  const auto done = replay_now();
  EXPECT_EQ(done.value().exit_code(), 2);
  EXPECT_EQ(done.value().count(Agreement::kEqual), 1);
  EXPECT_THAT(opened_, ElementsAre("3/4", "3/4"));
}

TEST_F(ReplayTest, AJudgeThatCannotBeOpenedIsAnError) {
  log_sample("3/4", 1, verdict(Outcome::kAccepted), to_json(draw_seeds()));
  can_open_ = false;
  EXPECT_EQ(replay_now().error().message, "3/4 sample 1: no Python");
}

TEST_F(ReplayTest, AMissingAnswerIsThatSamplesErrorOnly) {
  log_sample("3/4", 1, verdict(Outcome::kAccepted), to_json(draw_seeds()), kAnswer + "one");
  log_sample("3/4", 2, verdict(Outcome::kAccepted), to_json(draw_seeds()));
  const auto events = run_->read_task("3/4").value().events;
  const std::string hash = events[1]["answer_sha256"].get<std::string>();
  fs::remove(folder_ + "/blobs/" + hash.substr(0, 2) + "/" + hash);
  const auto done = replay_now();
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done.value().count(Agreement::kError), 1);
  EXPECT_EQ(done.value().count(Agreement::kEqual), 1);
}

TEST_F(ReplayTest, AnAnswerWithoutBlocksNeedsNoJudge) {
  Verdict none = verdict(Outcome::kRejected, "answer");
  none.backend = "none";
  none.failure->kind = "no_blocks";
  log_sample("3/4", 1, none, json(), "Sorry.");
  EXPECT_EQ(replay_now().value().count(Agreement::kEqual), 1);
  EXPECT_THAT(opened_, IsEmpty());
}

TEST_F(ReplayTest, RepliesWithoutAVerdictAreCountedAndLeftOut) {
  log_sample("3/4", 1, verdict(Outcome::kAccepted), to_json(draw_seeds()));
  log_sample("3/4", 2, Verdict(), json());
  const auto done = replay_now();
  EXPECT_EQ(done.value().samples.size(), 1U);
  EXPECT_EQ(done.value().without_verdict, 1);
}

TEST_F(ReplayTest, ChoosesATaskAndASample) {
  log_sample("3/4", 1, verdict(Outcome::kAccepted), to_json(draw_seeds()));
  log_sample("3/4", 2, verdict(Outcome::kAccepted), to_json(draw_seeds()));
  log_sample("x/y", 1, verdict(Outcome::kAccepted), to_json(draw_seeds()));
  EXPECT_EQ(replay_now("3/4", 2).value().samples.size(), 1U);
  EXPECT_EQ(replay_now("x/y").value().samples[0].task, "x/y");
  EXPECT_THAT(replay_now("3/5").error().message, HasSubstr("has no log of a task 3/5"));
  EXPECT_THAT(replay_now("3/4", 4).error().message, HasSubstr("no verdict of a sample 4"));
}

TEST_F(ReplayTest, AVerdictThatRestsOnAllRulesIsJudgedByAllOfThem) {
  log_sample("3/4", 1, verdict(Outcome::kRejected, "hidden"), to_json(draw_seeds()));
  Verdict by_rules = verdict(Outcome::kAccepted);
  by_rules.record("redrawn_weights", RuleOutcome::kPass, "", nullptr);
  log_sample("x/y", 1, by_rules, to_json(draw_seeds()));
  ASSERT_TRUE(replay_now().ok());
  EXPECT_THAT(opened_, ElementsAre("3/4 with all rules", "x/y with all rules"));
}

TEST_F(ReplayTest, SeedsOfAnEarlierVersionAreKeptWhereItDrewTheSame) {
  json old = to_json(draw_seeds());
  old.erase("beyond");
  for (const char* group : {"visible", "hidden"}) {
    for (json& draw : old[group]) {
      for (const char* key : {"weights", "inputs", "poison"}) draw.erase(key);
    }
  }
  log_sample("3/4", 1, verdict(Outcome::kAccepted), old);
  const auto done = replay_now();
  ASSERT_EQ(seeds_.size(), 1U);
  for (const char* group : {"visible", "hidden"}) {
    ASSERT_EQ(seeds_[0][group].size(), old[group].size());
    for (std::size_t i = 0; i < old[group].size(); ++i) EXPECT_EQ(seeds_[0][group][i]["seed"], old[group][i]["seed"]);
  }
  EXPECT_FALSE(seeds_[0]["beyond"].empty());
  EXPECT_THAT(done.value().samples[0].comparison.notes, ElementsAre(HasSubstr("drawn anew")));
}

TEST_F(ReplayTest, ALogWithoutSeedsIsThatSamplesError) {
  log_sample("3/4", 1, verdict(Outcome::kAccepted), json::object());
  EXPECT_EQ(replay_now().value().exit_code(), 2);
  EXPECT_THAT(opened_, IsEmpty());
}

TEST_F(ReplayTest, NamesTheMachinesIfTheyAreNotTheSame) {
  Verdict logged = verdict(Outcome::kAccepted);
  logged.environment = {{"nvrtc", "13.0"}};
  log_sample("3/4", 1, logged, to_json(draw_seeds()));
  now_ = {logged};
  now_[0].environment = {{"nvrtc", "13.0"}, {"torch", "2.11.0"}};
  EXPECT_THAT(to_text(replay_now().value(), *run_), Not(HasSubstr("logged with")));
  now_[0].environment["nvrtc"] = "13.1";
  EXPECT_THAT(to_text(replay_now().value(), *run_),
              HasSubstr("logged with emulate, nvrtc 13.0\njudged again with emulate, nvrtc 13.1, torch 2.11.0\n"));
}

TEST_F(ReplayTest, WhatTheLogSaysIsPrintedOnOneLine) {
  Verdict odd = verdict(Outcome::kRejected);
  odd.failure->kind = "x\n\x1b[31mEvil";
  log_sample("3/4", 1, odd, to_json(draw_seeds()));
  EXPECT_THAT(to_text(replay_now().value(), *run_), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace kagent::replay
