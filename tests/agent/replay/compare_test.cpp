// A logged verdict against a new one: every kind of difference, and everything that may not pass as equal.
#include "agent/replay/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::replay {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json accepted(const std::string& backend = "cuda", const std::string& gpu = "NVIDIA H200") {
  json verdict = {{"backend", backend}, {"outcome", "accepted"}, {"faster", backend == "cuda"},
                  {"stage", nullptr},   {"kind", nullptr},       {"environment", {{"device", {{"name", gpu}}}}}};
  if (backend == "cuda")
    verdict["baselines"] = {{"eager", {{"speedup", {{"ratio", 2.0}, {"low", 1.9}, {"high", 2.1}}}}}};
  return verdict;
}
json with_eager(double ratio, double low, double high) {
  json verdict = accepted();
  verdict["baselines"]["eager"]["speedup"] = {{"ratio", ratio}, {"low", low}, {"high", high}};
  return verdict;
}
json rejected(const std::string& stage, const std::string& kind, const std::string& backend = "cuda") {
  return {{"backend", backend}, {"outcome", "rejected"}, {"faster", false}, {"stage", stage}, {"kind", kind}};
}
json undecided(const std::string& backend = "none") {
  json verdict = rejected("run", "needs_gpu", backend);
  verdict["outcome"] = "undecided";
  return verdict;
}
Agreement agreement(const json& logged, const json& replayed) { return compare(logged, replayed).agreement; }

TEST(Compare, TheSameVerdictWithRatiosInsideBothIntervalsIsEqual) {
  const Comparison same = compare(accepted(), with_eager(2.05, 1.95, 2.15));
  EXPECT_EQ(same.agreement, Agreement::kEqual);
  EXPECT_THAT(same.differences, IsEmpty());
  EXPECT_THAT(same.notes, IsEmpty());
  EXPECT_EQ(agreement(rejected("visible", "mismatch"), rejected("visible", "mismatch")), Agreement::kEqual);
  EXPECT_EQ(agreement(accepted("emulate"), accepted("emulate")), Agreement::kEqual);
}

TEST(Compare, AnotherOutcomeStageOrKindDiffers) {
  EXPECT_THAT(compare(accepted(), rejected("hidden", "hidden_check_failed")).differences,
              ElementsAre("rejected at hidden (hidden_check_failed), logged accepted"));
  EXPECT_THAT(compare(rejected("hidden", "hidden_check_failed"), accepted()).differences,
              ElementsAre("accepted, logged rejected at hidden (hidden_check_failed)"));
  EXPECT_EQ(agreement(rejected("visible", "mismatch"), rejected("hidden", "mismatch")), Agreement::kDiffers);
  EXPECT_EQ(agreement(rejected("visible", "mismatch"), rejected("visible", "nan")), Agreement::kDiffers);
}

TEST(Compare, ARatioOutsideTheLoggedIntervalDiffers) {
  const Comparison outside = compare(accepted(), with_eager(2.12, 1.95, 2.3));
  EXPECT_EQ(outside.agreement, Agreement::kDiffers);
  EXPECT_THAT(outside.differences,
              ElementsAre("speed-up over eager: 2.120 [1.950, 2.300], logged 2.000 [1.900, 2.100]"));
}

TEST(Compare, ALoggedRatioOutsideTheNewIntervalDiffers) {
  const Comparison outside = compare(accepted(), with_eager(2.05, 2.04, 2.06));
  EXPECT_EQ(outside.agreement, Agreement::kDiffers);
  EXPECT_THAT(outside.differences, ElementsAre(HasSubstr("the logged ratio is outside the new interval")));
}

TEST(Compare, IntervalsThatDoNotMeetAreSaidToBeApart) {
  EXPECT_THAT(compare(accepted(), with_eager(1.5, 1.4, 1.6)).differences,
              ElementsAre(HasSubstr("the intervals are apart")));
}

TEST(Compare, ASpeedUpThatTurnsAroundDiffersThoughTheIntervalsMeet) {
  json slower = with_eager(1.98, 1.9, 2.1);
  slower["faster"] = false;
  EXPECT_THAT(compare(accepted(), slower).differences, ElementsAre("not faster, logged faster"));
}

TEST(Compare, ABaselineThatOnlyOneMeasuredIsNamed) {
  json more = accepted();
  more["baselines"]["null_plan"] = more["baselines"]["eager"];
  EXPECT_THAT(compare(more, accepted()).notes,
              ElementsAre(HasSubstr("null_plan not compared: not measured this time")));
  EXPECT_THAT(compare(accepted(), more).notes, ElementsAre(HasSubstr("null_plan not compared: not in the logged")));
}

TEST(Compare, OnAnotherGpuOnlyTheVerdictIs) {
  json other = with_eager(9, 8.9, 9.1);
  other["environment"]["device"]["name"] = "NVIDIA A100";
  const Comparison there = compare(accepted(), other);
  EXPECT_EQ(there.agreement, Agreement::kVerdictOnly);
  EXPECT_THAT(there.notes, ElementsAre("speed not compared: another GPU (NVIDIA A100, logged NVIDIA H200)"));
  EXPECT_EQ(agreement(rejected("visible", "mismatch"), other), Agreement::kDiffers);
}

TEST(Compare, AcceptedOnAGpuAndByEmulationIsCorrectnessOnly) {
  const Comparison emulated = compare(accepted(), accepted("emulate"));
  EXPECT_EQ(emulated.agreement, Agreement::kCorrectnessOnly);
  EXPECT_THAT(emulated.notes, ElementsAre("correctness only: judged by emulate, logged by cuda"));
  EXPECT_EQ(agreement(accepted("emulate"), accepted()), Agreement::kCorrectnessOnly);
  EXPECT_EQ(agreement(accepted(), rejected("visible", "mismatch", "emulate")), Agreement::kDiffers);
  EXPECT_EQ(agreement(rejected("visible", "mismatch"), rejected("visible", "mismatch", "emulate")), Agreement::kEqual);
}

TEST(Compare, WhatOneCouldNotDecideIsNotCompared) {
  EXPECT_EQ(agreement(accepted(), undecided()), Agreement::kNotCompared);
  EXPECT_EQ(agreement(undecided(), accepted()), Agreement::kNotCompared);
  EXPECT_EQ(agreement(undecided(), undecided()), Agreement::kNotCompared);
  EXPECT_EQ(agreement(json::object(), accepted()), Agreement::kNotCompared);
}

TEST(Compare, WhatOnlyAGpuShowsIsNotHeldAgainstEmulation) {
  EXPECT_EQ(agreement(rejected("time", "mismatch"), accepted("emulate")), Agreement::kNotCompared);
  EXPECT_EQ(agreement(accepted("emulate"), rejected("time", "mismatch")), Agreement::kNotCompared);
  EXPECT_EQ(agreement(rejected("rules", "null_plan"), accepted("emulate")), Agreement::kNotCompared);
  EXPECT_EQ(agreement(rejected("rules", "ghost"), accepted("emulate")), Agreement::kDiffers);
  EXPECT_EQ(agreement(rejected("time", "mismatch"), accepted()), Agreement::kDiffers);
}

TEST(Compare, AnErrorIsNeitherEqualNorADifference) {
  json broken = rejected("internal", "worker");
  broken["outcome"] = "error";
  broken["reason"] = "the GPU is gone";
  const Comparison error = compare(accepted(), broken);
  EXPECT_EQ(error.agreement, Agreement::kError);
  EXPECT_THAT(error.notes, Contains("could not be judged again: the GPU is gone"));
  EXPECT_EQ(agreement(rejected("visible", "mismatch"), broken), Agreement::kError);
}

TEST(Compare, NamesRulesOfOtherVersionsAndComparesAllTheSame) {
  const auto rule = [](const char* name, int version, const char* outcome = "pass") {
    return json{{"rule", name}, {"version", version}, {"outcome", outcome}};
  };
  json before = accepted();
  json now = accepted();
  before["rules"] = {rule("state", 1), rule("old", 1)};
  now["rules"] = {rule("state", 2), rule("young", 1)};
  const Comparison versions = compare(before, now);
  EXPECT_EQ(versions.agreement, Agreement::kEqual);
  EXPECT_THAT(versions.notes, ElementsAre("rules of other versions: old is gone, state 2 (logged: 1), young is new"));
  EXPECT_THAT(compare(accepted(), now).notes, ElementsAre(HasSubstr("no record of rules")));
  now["rules"] = {rule("state", 1, "not_run"), rule("old", 1)};
  EXPECT_THAT(compare(before, now).notes, ElementsAre("rules not run this time: state"));
}

TEST(Compare, ReadsAVerdictOfAnyShape) {
  const json odd = {{"outcome", 7}, {"stage", json::array()}, {"baselines", {1, 2}}, {"rules", {{"rule", 3}}}};
  EXPECT_EQ(agreement(odd, accepted()), Agreement::kNotCompared);
  json baselines = accepted();
  baselines["baselines"]["eager"] = "fast";
  EXPECT_EQ(agreement(baselines, accepted()), Agreement::kEqual);
}

}  // namespace
}  // namespace kagent::replay
