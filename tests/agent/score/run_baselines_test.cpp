#include "agent/score/run_baselines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/judge/baseline_cache.h"
#include "agent/score/read_run.h"
#include "agent/score/scores.h"

namespace kagent::score {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class BaselinesOfARun : public ::testing::Test {
 protected:
  BaselinesOfARun() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~BaselinesOfARun() override { fs::remove_all(folder_); }

  void put(const std::string& text) const { ASSERT_TRUE(write_file(folder_ + "/baselines.json", text).ok()); }
  static json entry(const json& key) {
    const auto timed = [](double ms, bool passes) {
      return json{{"ms", {{"mean", ms}, {"median", ms}, {"min", ms}, {"runs", 40}}}, {"passes_official_check", passes}};
    };
    return {{"key", key},
            {"measured_at", "2026-12-03"},
            {"baselines", {{"eager", timed(5, true)}, {"compile", timed(3, false)}}}};
  }

  const std::string folder_ = ::testing::TempDir() + "kagent-run-baselines-" + std::to_string(::getpid());
  const json environment_ = {{"torch", "2.11.0"}, {"cudnn", 9}, {"device", {{"name", "H200"}, {"driver", "580"}}}};
  const json verdict_ = {{"environment", environment_},
                         {"candidate", {{"ms", {{"mean", 2.0}}}}},
                         {"baselines", {{"eager", {{"ms", {{"mean", 4.0}}}}}}}};
};

TEST_F(BaselinesOfARun, OfTheSameMachineAndTaskStandBesideTheVerdicts) {
  put(json{{"baselines", {entry(baseline_key(environment_, "abc"))}}}.dump());
  const RunBaselines baselines(folder_);
  const json all = baselines.added_to(verdict_, "abc")["baselines"];
  EXPECT_EQ(all["compile"]["speedup"]["ratio"], 1.5);
  EXPECT_EQ(all["compile"]["passes_official_check"], false);
  EXPECT_EQ(all["compile"]["from_cache"], true);
  EXPECT_EQ(all["eager"]["ms"]["mean"], 4.0);  // the verdict's own
  EXPECT_EQ(all["eager"]["passes_official_check"], true);
}

TEST_F(BaselinesOfARun, OfAnotherTaskOrMachineDoNot) {
  put(json{{"baselines", {entry(baseline_key(environment_, "abc"))}}}.dump());
  const RunBaselines baselines(folder_);
  EXPECT_EQ(baselines.added_to(verdict_, "abd"), verdict_);
  json elsewhere = verdict_;
  elsewhere["environment"]["device"]["driver"] = "590";
  EXPECT_EQ(baselines.added_to(elsewhere, "abc"), elsewhere);
}

TEST_F(BaselinesOfARun, ARejectedAnswerGetsNone) {
  put(json{{"baselines", {entry(baseline_key(environment_, "abc"))}}}.dump());
  json rejected = verdict_;
  rejected.erase("candidate");
  EXPECT_EQ(RunBaselines(folder_).added_to(rejected, "abc"), rejected);
}

TEST_F(BaselinesOfARun, NoFileIsNoDamage) { EXPECT_FALSE(RunBaselines(folder_).damage().has_value()); }

TEST_F(BaselinesOfARun, AnythingElseIsNamed) {
  for (const char* text : {"{", "[]", "{\"x\": 1}"}) {
    put(text);
    const RunBaselines baselines(folder_);
    ASSERT_TRUE(baselines.damage().has_value()) << text;
    EXPECT_NE(baselines.damage()->message.find("baselines.json"), std::string::npos);
    EXPECT_EQ(baselines.added_to(verdict_, "abc"), verdict_);
  }
}

TEST_F(BaselinesOfARun, TheScoreRefusesADamagedFileAndTheReportSaysSo) {
  auto directory = run::RunDirectory::create_or_resume(folder_, {{"tasks", {"3/1"}}, {"samples", 5}}, {{"x", 1}});
  ASSERT_TRUE(directory.ok());
  put("{");
  EXPECT_FALSE(read_run(directory.value()).ok());
  const score::Run run = read_what_can_be(directory.value());
  ASSERT_TRUE(run.baselines_damage.has_value());
  const auto notes = scores_of(run).notes;
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(),
                          [](const std::string& n) { return n.find("baselines.json") != std::string::npos; }));
}

}  // namespace
}  // namespace kagent::score
