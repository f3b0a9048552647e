#include "agent/judge/code_rules.h"

#include <gtest/gtest.h>

#include "agent/judge/work_rules.h"

namespace kagent {
namespace {

using nlohmann::json;

json finding(const char* rule, const char* level, const char* what, json line = nullptr) {
  return {{"rule", rule}, {"level", level}, {"kernel", "k"}, {"what", what}, {"line", std::move(line)}};
}

const RuleResult& result(const Verdict& verdict, const std::string& rule) {
  static const RuleResult kNone;
  for (const RuleResult& r : verdict.rules) {
    if (r.rule == rule) return r;
  }
  return kNone;
}

TEST(CodeRules, CleanCodePassesEachOne) {
  Verdict v;
  EXPECT_FALSE(check_code({{"findings", json::array()}, {"arithmetic", {"fp32", "tf32"}}}, "{}", v));
  for (const char* rule : {"module_state", "extern_call", "timer", "special_register", "cache_policy", "launch_overlap",
                           "trap", "precision_tier"}) {
    EXPECT_EQ(result(v, rule).outcome, RuleOutcome::kPass) << rule;
  }
  EXPECT_EQ(v.plan["tier"], "tf32");
}

TEST(CodeRules, ABrokenOneRejectsWithItsSentenceAndLine) {
  Verdict v;
  const auto failure = check_code({{"findings",
                                    {finding("module_global_present", "flag", "has a global"),
                                     finding("module_state", "reject", "k writes to the module global counter", 12)}}},
                                  "{}", v);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->stage, "rules");
  EXPECT_EQ(failure->kind, "module_state");
  EXPECT_EQ(failure->reason, "k writes to the module global counter");
  EXPECT_EQ(failure->line, 12);
  EXPECT_EQ(failure->block, "cuda");
  EXPECT_EQ(result(v, "module_state").outcome, RuleOutcome::kFail);
  EXPECT_EQ(result(v, "module_state").evidence.size(), 2U);
}

TEST(CodeRules, AFlagDoesNotReject) {
  Verdict v;
  EXPECT_FALSE(check_code({{"findings", {finding("timer", "flag", "reads %clock")}}}, "{}", v));
  EXPECT_EQ(result(v, "timer").outcome, RuleOutcome::kFlag);
  EXPECT_EQ(result(v, "timer").what, "reads %clock");
}

TEST(CodeRules, WhatIsNarrowerThanFp32IsLabelledAndDoesNotCount) {
  Verdict v;
  v.outcome = Outcome::kAccepted;
  v.faster = true;
  v.backend = "cuda";
  EXPECT_FALSE(check_code({{"findings", json::array()}, {"arithmetic", {"fp32", "bf16"}}}, "{}", v));
  EXPECT_EQ(v.plan["tier"], "any");
  EXPECT_FALSE(v.counts());
  EXPECT_FALSE(
      check_code({{"findings", json::array()}, {"arithmetic", {"fp32"}}}, R"({"tensors": [{"dtype": "float16"}]})", v));
  EXPECT_EQ(v.plan["tier"], "any");
  EXPECT_FALSE(
      check_code({{"findings", json::array()}, {"arithmetic", {"fp32"}}}, R"({"tensors": [{"dtype": "float32"}]})", v));
  EXPECT_TRUE(v.counts());
  v.backend = "emulate";
  EXPECT_FALSE(v.counts());
}

TEST(CodeRules, AFindingOfAKindThatIsNotKnownStillRejects) {
  for (const char* kind : {"unreadable", "of_tomorrow"}) {
    Verdict v;
    const auto failure = check_code({{"findings", {finding(kind, "reject", "no idea")}}}, "{}", v);
    ASSERT_TRUE(failure) << kind;
    EXPECT_EQ(failure->kind, "readable_code");
  }
}

TEST(CodeRules, SplitsAsAccurateAsFloat32CountUnlessThePlanHoldsNarrowTensors) {
  Verdict v;
  EXPECT_FALSE(check_code({{"findings", json::array()}, {"arithmetic", {"bf16"}}}, "{}", v));
  allow_splits(v);
  EXPECT_EQ(v.plan["tier"], "tf32");
  EXPECT_EQ(result(v, "precision_tier").outcome, RuleOutcome::kPass);
  EXPECT_FALSE(check_code({{"findings", json::array()}, {"arithmetic", {"bf16"}}},
                          R"({"tensors": [{"dtype": "bfloat16"}]})", v));
  allow_splits(v);
  EXPECT_EQ(v.plan["tier"], "any");
}

TEST(CodeRules, WithoutAReportNothingPasses) {
  Verdict v;
  EXPECT_FALSE(check_code(nullptr, "{}", v));
  EXPECT_EQ(result(v, "module_state").outcome, RuleOutcome::kNotRun);
  EXPECT_FALSE(v.counts());
}

TEST(Rules, EachHasANameOfItsOwnAndAVersion) {
  for (const Rule& rule : all_rules()) {
    EXPECT_GE(rule.version, 1) << rule.id;
    EXPECT_EQ(find_rule(rule.id), &rule) << rule.id;
  }
  EXPECT_EQ(find_rule("no such rule"), nullptr);
}

TEST(Rules, TheLaterWordStands) {
  Verdict v;
  v.record("ghost", RuleOutcome::kPass, "first", nullptr);
  v.record("ghost", RuleOutcome::kFail, "second", {1});
  ASSERT_EQ(v.rules.size(), 1U);
  const json out = to_json(v);
  EXPECT_EQ(out["rules"][0]["outcome"], "fail");
  EXPECT_EQ(out["rules"][0]["what"], "second");
  EXPECT_EQ(out["rules"][0]["version"], find_rule("ghost")->version);
}

TEST(CustomShare, IsThatOfTheAnswersOwnLaunches) {
  Verdict v;
  v.profile["plan"] = {{"kernels",
                        {{{"name", "mine"}, {"ms", 1.0}, {"step", 3}, {"op", nullptr}},
                         {{"name", "gemm"}, {"ms", 3.0}, {"step", 1}, {"op", "aten::linear"}},
                         {{"name", "fill"}, {"ms", 0.0}, {"step", nullptr}, {"op", nullptr}}}}};
  record_custom_share(v);
  EXPECT_DOUBLE_EQ(v.plan["custom_share"].get<double>(), 0.25);
  EXPECT_EQ(result(v, "custom_share").outcome, RuleOutcome::kPass);
  v.profile["plan"]["kernels"][0]["ms"] = 0.01;
  record_custom_share(v);
  EXPECT_EQ(result(v, "custom_share").outcome, RuleOutcome::kFlag);
}

}  // namespace
}  // namespace kagent
