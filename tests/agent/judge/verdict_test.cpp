#include "agent/judge/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "agent/judge/check.h"
#include "agent/judge/device_facts.h"

namespace kagent {
namespace {

TEST(Verdict, HasTheFieldsThatScriptsRead) {
  Verdict v;
  v.task = "3/9";
  v.backend = "cuda";
  v.outcome = Outcome::kAccepted;
  v.faster = true;
  v.baselines["eager"].summary = {2.0, 1.9, 1.8, 40};
  v.baselines["eager"].speedup = Ratio{4.0, 3.9, 4.1, 8};
  const nlohmann::json json = to_json(v);
  EXPECT_EQ(json["task"], "3/9");
  EXPECT_EQ(json["outcome"], "accepted");
  EXPECT_EQ(json["faster"], true);
  EXPECT_TRUE(json["stage"].is_null());
  EXPECT_TRUE(json["reason"].is_null());
  EXPECT_EQ(json["backend"], "cuda");
  EXPECT_DOUBLE_EQ(json["speedup"], 4.0);
  EXPECT_DOUBLE_EQ(json["baselines"]["eager"]["ms"]["median"], 1.9);
}

TEST(Verdict, MapsEveryOutcomeToItsExitCode) {
  Verdict v;
  v.outcome = Outcome::kAccepted;
  EXPECT_EQ(v.exit_code(), 0);
  v.outcome = Outcome::kRejected;
  EXPECT_EQ(v.exit_code(), 1);
  v.outcome = Outcome::kError;
  EXPECT_EQ(v.exit_code(), 2);
  v.outcome = Outcome::kUndecided;
  EXPECT_EQ(v.exit_code(), 3);
}

TEST(Seeds, HiddenOnesCoverTheFourDistributionsAndDifferEachTime) {
  const Seeds a = draw_seeds();
  const Seeds b = draw_seeds();
  std::vector<double> scales;
  for (const Draw& d : a.hidden) scales.push_back(d.scale);
  for (const double scale : {1.0, 3.0, 0.01, -1.0}) {
    EXPECT_NE(std::find(scales.begin(), scales.end(), scale), scales.end()) << scale;
  }
  EXPECT_NE(a.hidden[0].seed, b.hidden[0].seed);
  EXPECT_NE(a.beyond[0].seed, b.beyond[0].seed);
  EXPECT_EQ(a.visible[0].seed, b.visible[0].seed);
}

TEST(Seeds, SurviveTheLog) {
  const Seeds a = draw_seeds();
  const auto b = seeds_from_json(to_json(a));
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(to_json(b.value()), to_json(a));
  EXPECT_FALSE(seeds_from_json({{"model", 42}, {"visible", "x"}}).ok());
  EXPECT_FALSE(
      seeds_from_json({{"model", 42}, {"visible", {{{"seed", 1}}}}, {"hidden", nlohmann::json::array()}}).ok());
}

TEST(Seeds, OfficialDrawsMeetBothPatternsOfPoisonAndTheOthersRunAsTimedOnesDo) {
  const Seeds s = draw_seeds();
  const auto patterns = [](const std::vector<Draw>& group) {
    std::set<std::string> out;
    for (const Draw& d : group) out.insert(d.poison);
    return out;
  };
  EXPECT_EQ(patterns(s.visible), (std::set<std::string>{"nan", "huge"}));
  EXPECT_EQ(patterns(s.hidden), (std::set<std::string>{"nan", "huge"}));
  EXPECT_EQ(patterns(s.beyond), (std::set<std::string>{"timed"}));
}

TEST(Seeds, NobodyKnowsTheTimedInputsBeforehand) {
  EXPECT_NE(draw_seeds().timed, draw_seeds().timed);
  nlohmann::json without = to_json(draw_seeds());
  without.erase("timed");
  EXPECT_FALSE(seeds_from_json(without).ok());
}

TEST(Seeds, ALogCannotAskForFewerOrTamerDraws) {
  nlohmann::json fewer = to_json(draw_seeds());
  fewer["beyond"].erase(0);
  EXPECT_FALSE(seeds_from_json(fewer).ok());
  nlohmann::json tamer = to_json(draw_seeds());
  tamer["beyond"][1]["weights"] = "as_built";
  EXPECT_FALSE(seeds_from_json(tamer).ok());
  nlohmann::json old = to_json(draw_seeds());
  old.erase("beyond");
  EXPECT_FALSE(seeds_from_json(old).ok());
}

TEST(DeviceFacts, KnowTheH200AndSayWhatElse) {
  const auto h200 = device_facts("sm_90a");
  ASSERT_TRUE(h200.ok());
  EXPECT_EQ(h200.value()["sm_count"], 132);
  EXPECT_EQ(h200.value()["shared_per_block"], 232448);
  const auto none = device_facts("sm_12");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("sm_90a"), std::string::npos);
}

}  // namespace
}  // namespace kagent
