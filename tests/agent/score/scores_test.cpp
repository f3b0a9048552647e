#include "agent/score/scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agent/score/forms.h"
#include "tests/agent/run/run_fixture.h"

namespace kagent::score {
namespace {

using nlohmann::json;

json ratio(double r) { return {{"ratio", r}, {"low", r * 0.9}, {"high", r * 1.1}}; }

// A verdict of a GPU: speed-ups over eager and the null plan.
json accepted(double over_eager, double over_null_plan, bool counts) {
  return {{"outcome", "accepted"},
          {"backend", "cuda"},
          {"faster", counts},
          {"counts", counts},
          {"plan", {{"tier", "tf32"}, {"library_ops", {"aten::mm"}}, {"custom_share", 0.5}}},
          {"environment", {{"device", {{"name", "NVIDIA H200"}, {"driver", "570"}}}, {"torch", "2.11.0"}}},
          {"candidate", {{"ms", {{"mean", 1.0}, {"median", 1.0}}}, {"peak_bytes", 100}}},
          {"baselines",
           {{"eager", {{"speedup", ratio(over_eager)}, {"peak_bytes", 400}, {"passes_official_check", true}}},
            {"null_plan", {{"speedup", ratio(over_null_plan)}}}}}};
}
json rejected() {
  return {{"outcome", "rejected"}, {"backend", "cuda"}, {"stage", "compile"}, {"kind", "compile_error"}};
}
json emulated() { return {{"outcome", "accepted"}, {"backend", "emulate"}, {"counts", true}, {"faster", true}}; }

class ScoresOfARun : public run::RunFixture {
 protected:
  ScoresOfARun() {
    identity_ = {{"kind", "run"},
                 {"tasks", {"3/1", "3/2", "3/3", "3/4"}},
                 {"model", "openai:x"},
                 {"samples", 2},
                 {"protocol", "feedback"},
                 {"stop_when_faster", false},
                 {"request", json::object()}};
  }
  void sample(const run::RunDirectory& directory, const std::string& task, int number, const json& verdict) {
    const auto log = directory.open_task(task).value();
    if (log->events().empty()) append(*log, "start", {{"task", task}});
    append(*log, "request", {{"sample", number}, {"prompt_sha256", log->blobs().put("prompt").value()}});
    if (verdict == "waiting") return;
    append(*log, "reply",
           {{"sample", number},
            {"answer_sha256", log->blobs().put("answer").value()},
            {"model", "x-2026"},
            {"usage", {{"input_tokens", 10}, {"output_tokens", 5}}},
            {"cost", {{"usd", 0.5}}}});
    if (!verdict.is_null()) append(*log, "verdict", {{"sample", number}, {"verdict", verdict}});
  }
  Scores scores(const run::RunDirectory& directory) {
    run_ = read_run(directory).value();
    return scores_of(run_);
  }
  score::Run run_;
};

TEST_F(ScoresOfARun, CountTheBestSampleOfEachTaskAndATaskWithoutALogAsAFailure) {
  const auto directory = create();
  sample(directory, "3/1", 1, rejected());
  sample(directory, "3/1", 2, accepted(4, 2, true));
  sample(directory, "3/2", 1, accepted(2, 0.5, false));  // faster than eager only: does not count
  sample(directory, "3/3", 1, rejected());
  const Scores s = scores(directory);
  EXPECT_EQ(s.tasks, 4);
  EXPECT_EQ(s.logged, 3);
  EXPECT_EQ(s.all.correct.hits, 2);
  EXPECT_EQ(s.all.correct.of, 4);
  EXPECT_EQ(s.all.counted.hits, 1);
  ASSERT_TRUE(s.all.geomean_correct.value);
  EXPECT_NEAR(*s.all.geomean_correct.value, std::sqrt(8), 1e-12);
  EXPECT_NEAR(*s.all.geomean_all.value, std::pow(8, 0.25), 1e-12);
  EXPECT_NEAR(*s.all.memory.value, 4, 1e-12);
  EXPECT_DOUBLE_EQ(*s.all.custom_share, 0.5);
  for (const auto& [p, share] : s.all.fast_p) EXPECT_EQ(share.hits, p < 2 ? 2 : p < 4 ? 1 : 0) << p;
  EXPECT_EQ(s.samples.planned, 8);
  EXPECT_EQ(s.samples.rejected, 2);
  EXPECT_DOUBLE_EQ(s.cost.usd, 2);
}

TEST_F(ScoresOfARun, HoldTheFastestBaselineAgainstEachAnswer) {
  const auto directory = create();
  sample(directory, "3/1", 1, accepted(4, 2, true));
  sample(directory, "3/2", 1, accepted(2, 0.5, false));
  const Scores s = scores(directory);
  const auto against = [&](const std::string& name) {
    for (const AgainstBaseline& a : s.all.baselines) {
      if (a.name == name) return a;
    }
    return AgainstBaseline{};
  };
  EXPECT_EQ(against("eager").ratio_above.hits, 2);
  EXPECT_EQ(against("null_plan").ratio_above.hits, 1);
  EXPECT_EQ(against("fastest").ratio_above.hits, 1);
  EXPECT_EQ(against("fastest that passes").ratio_above.hits, 2);  // only eager is known to pass
  EXPECT_NEAR(*against("fastest").geomean.value, 1, 1e-12);
}

TEST_F(ScoresOfARun, AnEmulatedAnswerIsRightAndNeverFast) {
  const auto directory = create();
  sample(directory, "3/1", 1, emulated());
  const Scores s = scores(directory);
  EXPECT_EQ(s.all.correct.hits, 1);
  EXPECT_EQ(s.all.only_emulated, 1);
  EXPECT_EQ(s.all.counted.hits, 0);
  EXPECT_EQ(s.all.fast_p.front().second.hits, 0);
}

TEST_F(ScoresOfARun, LowerPrecisionIsReportedApart) {
  const auto directory = create();
  json narrow = accepted(9, 9, false);
  narrow["plan"]["tier"] = "any";
  sample(directory, "3/1", 1, narrow);
  sample(directory, "3/1", 2, accepted(3, 3, true));
  const Scores s = scores(directory);
  EXPECT_NEAR(*s.all.geomean_correct.value, 3, 1e-12);
}

TEST_F(ScoresOfARun, TheBestOfTheFirstKGrowsWithK) {
  const auto directory = create();
  sample(directory, "3/1", 1, rejected());
  sample(directory, "3/1", 2, accepted(4, 2, true));
  sample(directory, "3/2", 1, accepted(2, 2, true));
  const Scores s = scores(directory);
  EXPECT_FALSE(s.unbiased);
  ASSERT_EQ(s.best_of_k.size(), 2U);
  EXPECT_DOUBLE_EQ(*s.best_of_k[0].counted.value, 0.25);
  EXPECT_DOUBLE_EQ(*s.best_of_k[1].counted.value, 0.5);
}

TEST_F(ScoresOfARun, IndependentSamplesGivePassAtK) {
  identity_["protocol"] = "independent";
  const auto directory = create();
  sample(directory, "3/1", 1, rejected());
  sample(directory, "3/1", 2, accepted(4, 2, true));
  const Scores s = scores(directory);
  EXPECT_TRUE(s.unbiased);
  EXPECT_DOUBLE_EQ(*s.best_of_k[0].counted.value, 0.125);  // 1 of 2, in one task of four
  EXPECT_DOUBLE_EQ(*s.best_of_k[1].counted.value, 0.25);
}

TEST_F(ScoresOfARun, NothingOpenIsDropped) {
  const auto directory = create();
  sample(directory, "3/1", 1, nullptr);
  sample(directory, "3/2", 1, "waiting");
  sample(directory, "3/3", 1, {{"outcome", "undecided"}, {"backend", "none"}});
  const Scores s = scores(directory);
  EXPECT_EQ(s.samples.unjudged, 1);
  EXPECT_EQ(s.samples.waiting, 1);
  EXPECT_EQ(s.samples.undecided, 1);
  EXPECT_EQ(s.samples.not_drawn, 5);
}

TEST_F(ScoresOfARun, TimesOfTwoGpusAreNotAveraged) {
  const auto directory = create();
  json other = accepted(2, 2, true);
  other["environment"]["device"]["name"] = "NVIDIA A100";
  sample(directory, "3/1", 1, accepted(4, 2, true));
  sample(directory, "3/2", 1, other);
  const Scores s = scores(directory);
  EXPECT_TRUE(s.all.mixed);
  EXPECT_FALSE(s.all.geomean_correct.value);
  EXPECT_EQ(s.environments.size(), 2U);
}

TEST_F(ScoresOfARun, TheFormsSayWhatTheyAreOf) {
  const auto directory = create();
  sample(directory, "3/1", 1, accepted(4, 2, true));
  const Scores s = scores(directory);
  const std::string text = to_markdown(run_, s);
  for (const char* word : {"feedback", "x-2026", "NVIDIA H200", "fast_1"})
    EXPECT_NE(text.find(word), std::string::npos) << word;
  const json out = to_json(run_, s);
  EXPECT_FALSE(out.empty());
  EXPECT_NE(to_csv(run_, s).find("3/1"), std::string::npos);
}

TEST_F(ScoresOfARun, HostileNamesStayOneInertLine) {
  identity_["model"] = "spool:<script>|x\n# heading";
  const auto directory = create();
  json verdict = rejected();
  verdict["kind"] = "=cmd|' /C calc'!A0,\n<b>";
  sample(directory, "3/1", 1, verdict);
  const Scores s = scores(directory);
  const std::string text = to_markdown(run_, s);
  EXPECT_EQ(text.find("<script>"), std::string::npos);
  EXPECT_EQ(text.find("\n# heading"), std::string::npos);
  EXPECT_EQ(to_csv(run_, s).find("\n<b>"), std::string::npos);
}

}  // namespace
}  // namespace kagent::score
