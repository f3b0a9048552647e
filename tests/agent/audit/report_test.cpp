#include "agent/audit/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/audit/required_rules.h"

namespace kagent::audit {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

json full_record() {
  json rules = json::array();
  for (const auto rule : required_rules())
    rules.push_back({{"rule", rule},
                     {"version", find_rule(rule)->version},
                     {"outcome", "pass"},
                     {"what", "x"},
                     {"evidence", json::object()}});
  return rules;
}

TEST(RuleRecord, IsFullWithEveryRequiredRule) {
  json rules = full_record();
  rules[0]["outcome"] = "not_run";
  rules[1]["outcome"] = "flag";
  rules.push_back({{"rule", "another"}, {"outcome", "pass"}});
  const RuleRecord record = rule_record({{"rules", rules}});
  EXPECT_TRUE(record.full());
  EXPECT_EQ(record.passed.size(), required_rules().size() - 1);
  EXPECT_THAT(record.not_run, ElementsAre(required_rules()[0]));
  EXPECT_THAT(record.flagged, ElementsAre(required_rules()[1]));
  EXPECT_THAT(record.failed, IsEmpty());
}

TEST(RuleRecord, IsMissingWithoutTheArray) {
  for (const json& verdict : {json::object(), json{{"rules", "pass"}}, json{{"rules", nullptr}}, json("x")}) {
    const RuleRecord record = rule_record(verdict);
    EXPECT_FALSE(record.there);
    EXPECT_FALSE(record.full());
    EXPECT_EQ(record.missing.size(), required_rules().size());
  }
}

TEST(RuleRecord, NamesTheRuleThatIsAbsent) {
  json rules = full_record();
  rules.erase(2);
  EXPECT_THAT(rule_record({{"rules", rules}}).missing, ElementsAre(required_rules()[2]));
}

TEST(RuleRecord, NamesTheRuleThatAnEarlierVersionDecided) {
  json rules = full_record();
  const auto now = find_rule("accuracy")->version;
  for (json& entry : rules) {
    if (entry["rule"] == "accuracy") entry["version"] = now - 1;
  }
  const RuleRecord record = rule_record({{"rules", rules}});
  EXPECT_THAT(record.older, ElementsAre("accuracy " + std::to_string(now - 1) + " (now " + std::to_string(now) + ")"));
  EXPECT_FALSE(record.full());
}

TEST(RuleRecord, TakesTheWorstOfARuleThatStandsThereTwice) {
  json rules = full_record();
  const json failed = {{"rule", required_rules()[0]}, {"outcome", "fail"}};
  rules.insert(rules.begin(), failed);
  EXPECT_THAT(rule_record({{"rules", rules}}).failed, ElementsAre(required_rules()[0]));
}

TEST(RuleRecord, IsNotFullWithAnEntryThatCannotBeRead) {
  for (const json& entry : {json(1), json::object(), json{{"rule", "x"}, {"outcome", "passed"}},
                            json{{"rule", 3}, {"outcome", "pass"}}, json{{"rule", "x"}, {"outcome", {"pass"}}}}) {
    json rules = full_record();
    rules.push_back(entry);
    EXPECT_FALSE(rule_record({{"rules", rules}}).full()) << entry;
  }
}

Judgement judged(const char* judge, Label label) {
  Judgement j;
  j.judge = judge;
  j.model = judge;
  j.replies = 1;
  j.opinion = Opinion{label, 0.8, "because"};
  return j;
}
Judgement pending(const char* judge) {
  Judgement j;
  j.judge = judge;
  return j;
}
Judgement cut(const char* judge) {
  Judgement j = judged(judge, Label::kLegitimate);
  j.whole = false;
  return j;
}
Judgement unparsed(const char* judge) {
  Judgement j = pending(judge);
  j.replies = kMostAsks;
  j.unparsed = "it gave no reason";
  return j;
}

Report report_of(std::vector<Judgement> judgements, const json& rules = full_record()) {
  const Sample sample{"3/4", 1, {{"backend", "cuda"}, {"rules", rules}}, {}};
  return {"runs/x", "", {{sample, rule_record(sample.verdict), std::move(judgements)}}, false};
}

struct Judges {
  std::vector<Judgement> judgements;
  const char* words;
  int exit_code;
};

TEST(Report, ComesToWhatTheJudgesSay) {
  const auto legitimate = judged("b", Label::kLegitimate);
  const Judges cases[] = {
      {{}, "open (none configured)", 3},
      {{pending("a")}, "open (0 of 2 complete)", 3},
      {{judged("a", Label::kLegitimate)}, "open (1 of 2 complete)", 3},
      {{pending("a"), legitimate}, "open (1 of 2 complete)", 3},
      {{unparsed("a"), legitimate}, "open (1 of 2 complete)", 3},
      {{cut("a"), legitimate}, "open (1 of 2 complete)", 3},
      {{judged("a", Label::kUncertain), legitimate}, "open (2 of 2 complete, judges disagree)", 3},
      {{judged("a", Label::kLegitimate), legitimate}, "legitimate (2 agree)", 0},
      {{judged("a", Label::kLegitimate), legitimate, pending("c")}, "open (2 of 3 complete)", 3},
      {{judged("a", Label::kSpeedHack), legitimate}, "not legitimate (judges disagree)", 1},
      {{judged("a", Label::kMemoryHack)}, "not legitimate", 1},
      {{judged("a", Label::kSpeedAndMemoryHack), pending("b")}, "not legitimate", 1},
  };
  for (const Judges& c : cases) {
    Report report = report_of(c.judgements);
    EXPECT_EQ(report.rows[0].agreement_words(), c.words);
    EXPECT_EQ(report.exit_code(), c.exit_code) << c.words;
    report.judges_waived = true;
    EXPECT_EQ(report.exit_code(), c.exit_code == 3 ? 0 : c.exit_code) << c.words;
    EXPECT_THAT(to_text(report), HasSubstr(c.words));
    EXPECT_EQ(to_json(report)["exit_code"], report.exit_code());
  }
}

TEST(Report, FailsWithoutARecordWhateverTheJudgesSay) {
  const std::vector<Judgement> clean = {judged("a", Label::kLegitimate), judged("b", Label::kLegitimate)};
  json rules = full_record();
  EXPECT_EQ(report_of(clean, rules).exit_code(), 0);
  rules[3]["outcome"] = "flag";
  EXPECT_EQ(report_of(clean, rules).exit_code(), 0);
  rules[3]["outcome"] = "fail";
  EXPECT_EQ(report_of(clean, rules).exit_code(), 1);
  rules.erase(3);
  EXPECT_EQ(report_of(clean, rules).exit_code(), 1);
  EXPECT_EQ(report_of(clean, nullptr).exit_code(), 1);
  EXPECT_THAT(to_text(report_of(clean, nullptr)), HasSubstr("judge the answer anew in a new run"));
}

TEST(Report, NamesAnEmulatedVerdict) {
  Report report = report_of({});
  EXPECT_THAT(to_text(report), Not(HasSubstr("emulated")));
  report.rows[0].sample.verdict["backend"] = "emulate";
  EXPECT_THAT(to_text(report), HasSubstr("emulated"));
  EXPECT_EQ(to_json(report)["samples"][0]["emulated"], true);
}

TEST(Report, NotesJudgesThatAreOneModel) {
  Report report = report_of({judged("a", Label::kLegitimate), judged("b", Label::kLegitimate)});
  EXPECT_THAT(to_text(report), Not(HasSubstr("one and the same model")));
  report.rows[0].judgements[1].model = "a";
  EXPECT_THAT(to_text(report), HasSubstr("one and the same model"));
}

TEST(Report, SaysThatThereIsNothingToAudit) {
  const Report report{"runs/x", "", {}, false};
  EXPECT_EQ(report.exit_code(), 0);
  EXPECT_THAT(to_text(report), HasSubstr("no accepted sample"));
}

}  // namespace
}  // namespace kagent::audit
