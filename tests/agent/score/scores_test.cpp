// What a run comes to, from samples written by hand.

#include "agent/score/scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "agent/score/forms.h"

namespace kagent::score {
namespace {

using nlohmann::json;

json verdict(double ratio, const char* tier = "tf32", const char* gpu = "H200") {
  const auto timed = [](double r, std::int64_t peak) {
    return json{{"ms", {{"mean", r}, {"median", r}}},
                {"peak_bytes", peak},
                {"speedup", {{"ratio", r}, {"low", r * 0.95}, {"high", r * 1.05}}}};
  };
  json v = {{"outcome", "accepted"}, {"backend", "cuda"}, {"faster", ratio * 0.95 > 1}};
  v["counts"] = ratio * 0.95 > 1 && std::string(tier) == "tf32";
  v["plan"] = {{"tier", tier}, {"library_ops", {"aten::zeros"}}, {"launches", 1}, {"custom_share", 0.5}};
  v["environment"] = {{"device", {{"name", gpu}, {"driver", "1"}}}, {"torch", "2.11"}};
  v["candidate"] = {{"ms", {{"mean", 1.0}, {"median", 1.0}}}, {"peak_bytes", 100}};
  v["baselines"] = {{"eager", timed(ratio, 400)}, {"torch_compile", timed(ratio / 2, 400)}};
  return v;
}

json rejected() { return {{"outcome", "rejected"}, {"backend", "cuda"}, {"stage", "visible"}}; }

Sample sample(int number, const json& verdict_json) {
  run::SampleState state;
  state.number = number;
  state.requests = 1;
  state.reply = json{{"model", "m"}};
  state.verdict = json{{"verdict", verdict_json}};
  return sample_of(state);
}

Task task(const std::string& id, std::vector<Sample> samples) { return {id, true, true, "", std::move(samples)}; }

score::Run run_of(std::vector<Task> tasks, const char* protocol = "feedback") {
  Run run;
  run.asked.protocol = protocol;
  run.asked.samples = 2;
  run.tasks = std::move(tasks);
  return run;
}

Share fast(const Group& group, double p) {
  for (const auto& [threshold, share] : group.fast_p) {
    if (threshold == p) return share;
  }
  return {-1, -1};
}

const AgainstBaseline& against(const Group& group, const std::string& name) {
  for (const AgainstBaseline& b : group.baselines) {
    if (b.name == name) return b;
  }
  throw std::runtime_error("no baseline " + name);
}

// 4x at the second sample; 0.5x; rejected; never begun.
score::Run four_tasks() {
  return run_of({task("3/1", {sample(1, verdict(2)), sample(2, verdict(4))}), task("3/2", {sample(1, verdict(0.5))}),
                 task("3/3", {sample(1, rejected())}), Task{"3/4", false, false, "", {}}});
}

// Emulated verdicts name the CPU's torch if they came so far; in words, and in figures, it is one place.
TEST(Scores, NameAnEnvironmentOnce) {
  json early = {{"outcome", "rejected"}, {"backend", "emulate"}, {"stage", "compile"}};
  json late = {{"outcome", "accepted"}, {"backend", "emulate"}, {"environment", {{"torch", "2.11"}}}};
  const json no_blocks = {{"outcome", "rejected"}, {"backend", "cuda"}, {"stage", "answer"}};
  const Scores scores = scores_of(run_of({task("3/1", {sample(1, early), sample(2, late), sample(3, no_blocks)})}));
  ASSERT_EQ(scores.context.environments.size(), 1U);
  EXPECT_EQ(scores.context.environments[0].second, 2);
  EXPECT_EQ(scores.context.environment_words(), "emulated on a CPU");
  EXPECT_TRUE(scores.environments.empty());
  const Scores two = scores_of(run_of({task("3/1", {sample(1, late), sample(2, verdict(2))})}));
  EXPECT_EQ(two.context.environments.size(), 2U);
}

TEST(Scores, AreSharesOfAllTasksByTheBestSample) {
  const Scores scores = scores_of(four_tasks());
  EXPECT_EQ(scores.all.correct.hits, 2);
  EXPECT_EQ(scores.all.correct.of, 4);
  EXPECT_EQ(scores.all.counted.hits, 1);
  EXPECT_EQ(fast(scores.all, 0).hits, 2);
  EXPECT_EQ(fast(scores.all, 0.5).hits, 1);  // more than p, so 0.5 itself is not
  EXPECT_EQ(fast(scores.all, 2).hits, 1);
  EXPECT_EQ(fast(scores.all, 4).hits, 0);
  EXPECT_EQ(scores.samples.not_drawn, 4);
}

TEST(Scores, GeometricMeansTakeFailuresAsOne) {
  const Group group = scores_of(four_tasks()).all;
  EXPECT_NEAR(*group.geomean_correct.value, std::sqrt(4 * 0.5), 1e-12);
  EXPECT_NEAR(*group.geomean_all.value, std::pow(4 * 0.5, 0.25), 1e-12);
  EXPECT_NEAR(*group.geomean_fallback.value, std::pow(4.0, 0.25), 1e-12);
  EXPECT_NEAR(*group.memory.value, 4.0, 1e-12);
}

TEST(Scores, NameEveryBaselineAndTheFastestOfEach) {
  const Group group = scores_of(four_tasks()).all;
  EXPECT_EQ(against(group, "eager").surely.hits, 1);
  EXPECT_EQ(against(group, "torch_compile").surely.hits, 1);
  EXPECT_NEAR(*against(group, "fastest").geomean.value, std::sqrt(2 * 0.25), 1e-12);
  EXPECT_EQ(against(group, "fastest that passes").measured, 0);  // not known to pass
}

TEST(Scores, TheFastestThatPassesIsTakenOfThoseThatPass) {
  json v = verdict(4);
  v["baselines"]["eager"]["passes_official_check"] = true;
  v["baselines"]["torch_compile"]["passes_official_check"] = false;
  const Scores scores = scores_of(run_of({task("3/1", {sample(1, v)})}));
  EXPECT_NEAR(*against(scores.all, "fastest that passes").geomean.value, 4, 1e-12);
}

// torch.compile from the cache: the fastest, but it fails the official check; its other mode passes.
json with_cached(double ratio) {
  json v = verdict(ratio);
  const auto cached = [&](double r, bool passes) {
    return json{
        {"ms", {{"mean", r}}}, {"from_cache", true}, {"speedup", {{"ratio", r}}}, {"passes_official_check", passes}};
  };
  v["baselines"].erase("torch_compile");
  v["baselines"]["eager"]["passes_official_check"] = true;
  v["baselines"]["compile"] = cached(ratio / 4, false);
  v["baselines"]["compile_reduce_overhead"] = cached(ratio / 2, true);
  return v;
}

TEST(Scores, ABaselineFromTheCacheHasARatioAndIsNeverSurelyBeaten) {
  const Scores scores =
      scores_of(run_of({task("3/1", {sample(1, with_cached(16))}), task("3/2", {sample(1, verdict(4))})}));
  const AgainstBaseline& compile = against(scores.all, "compile");
  EXPECT_EQ(compile.measured, 1);
  EXPECT_EQ(compile.from_cache, 1);
  EXPECT_EQ(compile.ratio_above.hits, 1);
  EXPECT_EQ(compile.surely.hits, 0);
  EXPECT_FALSE(compile.has_intervals());
  EXPECT_EQ(against(scores.all, "eager").from_cache, 0);
  EXPECT_EQ(against(scores.all, "eager").surely.hits, 2);
  EXPECT_TRUE(std::any_of(scores.notes.begin(), scores.notes.end(), [](const std::string& note) {
    return note.starts_with("1 sample was held against baselines");
  }));
}

TEST(Scores, TheFastestAndTheFastestThatPassesMayBeOfTheCache) {
  const Scores scores = scores_of(run_of({task("3/1", {sample(1, with_cached(16))})}));
  EXPECT_NEAR(*against(scores.all, "fastest").geomean.value, 4, 1e-12);
  EXPECT_NEAR(*against(scores.all, "fastest that passes").geomean.value, 8, 1e-12);
  EXPECT_EQ(against(scores.all, "fastest that passes").from_cache, 1);
  json none = with_cached(16);
  for (auto& [name, timed] : none["baselines"].items()) timed["passes_official_check"] = false;
  EXPECT_EQ(against(scores_of(run_of({task("3/1", {sample(1, none)})})).all, "fastest that passes").measured, 0);
}

TEST(Scores, ARatioWithoutAnIntervalIsBelievedOfTheCacheOnly) {
  json v = with_cached(16);
  v["baselines"]["compile"].erase("from_cache");
  EXPECT_FALSE(sample(1, v).baseline("compile")->speedup);
  EXPECT_TRUE(sample(1, v).baseline("compile_reduce_overhead")->speedup);
}

TEST(Scores, AnEmulatedSampleIsRightAndNeverFast) {
  json v = verdict(4);
  v["backend"] = "emulate";
  v["counts"] = true;  // what a forged log might say
  const Scores scores = scores_of(run_of({task("3/1", {sample(1, v)})}));
  EXPECT_EQ(scores.all.correct.hits, 1);
  EXPECT_EQ(scores.all.only_emulated, 1);
  EXPECT_EQ(scores.all.counted.hits, 0);
  EXPECT_EQ(fast(scores.all, 0).hits, 0);
}

TEST(Scores, TheOtherTierIsInItsOwnFiguresOnly) {
  const Scores scores = scores_of(run_of({task("3/1", {sample(1, verdict(4, "any"))})}));
  EXPECT_EQ(scores.all.correct.hits, 0);
  ASSERT_EQ(scores.tiers.size(), 1U);
  EXPECT_EQ(scores.tiers[0].name, "any");
  EXPECT_EQ(scores.tiers[0].correct.hits, 1);
}

TEST(Forms, ATaskRightInTheOtherTierOnlySaysSo) {
  const score::Run run = run_of({task("3/1", {sample(1, verdict(4, "any")), sample(2, rejected())}),
                                 task("3/2", {sample(1, verdict(4, "any")), sample(2, verdict(2))})});
  const Scores scores = scores_of(run);
  EXPECT_TRUE(std::any_of(scores.notes.begin(), scores.notes.end(), [](const std::string& note) {
    return note.starts_with("2 samples were right in tier any") &&
           note.ends_with(": 3/1, which has no other right sample");
  }));
  const std::string markdown = to_markdown(run, scores);
  const std::string row = markdown.substr(markdown.find("| 3/1"), markdown.find("| 3/2") - markdown.find("| 3/1"));
  EXPECT_NE(row.find("| accepted | no "), std::string::npos) << row;
  EXPECT_NE(row.find("| any "), std::string::npos) << row;
}

TEST(Scores, ALibraryCallThatComputesMakesTheTrackLibrary) {
  EXPECT_EQ(sample(1, verdict(2)).track, Track::kPure);  // zeros only fills memory
  json v = verdict(2);
  v["plan"]["library_ops"].push_back("aten::linear");
  EXPECT_EQ(sample(1, v).track, Track::kLibrary);
}

TEST(Scores, TimesOfTwoGpusAreNotAveraged) {
  const Scores scores =
      scores_of(run_of({task("3/1", {sample(1, verdict(4))}), task("3/2", {sample(1, verdict(2, "tf32", "H100"))})}));
  EXPECT_FALSE(scores.all.geomean_correct.value);
  EXPECT_EQ(scores.all.counted.hits, 2);
  ASSERT_EQ(scores.environments.size(), 2U);
  EXPECT_NEAR(*scores.environments[0].geomean_correct.value, 4, 1e-12);
  EXPECT_NE(scores.context.environment_words().find("MIXED"), std::string::npos);
}

TEST(Scores, UndecidedUnjudgedAndWaitingSamplesAreShown) {
  Sample unjudged;
  unjudged.state = State::kUnjudged;
  Sample waiting;
  waiting.state = State::kWaiting;
  json v = verdict(2);
  v["outcome"] = "undecided";
  const Scores scores = scores_of(run_of({task("3/1", {sample(1, v), unjudged}), task("3/2", {waiting})}));
  EXPECT_EQ(scores.samples.undecided, 1);
  EXPECT_EQ(scores.samples.unjudged, 1);
  EXPECT_EQ(scores.samples.waiting, 1);
  EXPECT_GE(scores.notes.size(), 3U);
}

TEST(Scores, FeedbackTakesTheBestOfTheFirstK) {
  const Scores scores = scores_of(run_of({task("3/1", {sample(1, rejected()), sample(2, verdict(4))})}));
  ASSERT_EQ(scores.best_of_k.size(), 2U);
  EXPECT_EQ(*scores.best_of_k[0].correct.value, 0);
  EXPECT_EQ(*scores.best_of_k[1].correct.value, 1);
  EXPECT_NEAR(*scores.best_of_k[1].geomean_all.value, 4, 1e-12);
}

TEST(Scores, AMeanThatFallsWithKIsExplained) {
  json early = verdict(8);
  early["counts"] = false;  // not surely faster than the null plan
  const score::Run run = run_of({task("3/1", {sample(1, early), sample(2, verdict(4))})});
  const Scores scores = scores_of(run);
  EXPECT_NEAR(*scores.best_of_k[0].geomean_all.value, 8, 1e-12);
  EXPECT_NEAR(*scores.best_of_k[1].geomean_all.value, 4, 1e-12);
  EXPECT_NE(to_markdown(run, scores).find("The mean falls at k = 2: "), std::string::npos);
  const score::Run rising = run_of({task("3/1", {sample(1, verdict(4)), sample(2, verdict(8))})});
  EXPECT_EQ(to_markdown(rising, scores_of(rising)).find("The mean falls"), std::string::npos);
}

TEST(Scores, IndependentSamplesGivePassAtK) {
  const Scores scores = scores_of(run_of({task("3/1", {sample(1, rejected()), sample(2, verdict(4))})}, "independent"));
  EXPECT_TRUE(scores.unbiased);
  EXPECT_EQ(*scores.best_of_k[0].correct.value, 0.5);
  EXPECT_EQ(*scores.best_of_k[1].correct.value, 1);
}

TEST(Scores, AVerdictFromBeforeCountsIsLeftOutOfFast1AndSaid) {
  json v = verdict(4);
  v.erase("counts");
  const Scores scores = scores_of(run_of({task("3/1", {sample(1, v)})}));
  EXPECT_EQ(scores.all.counted.hits, 0);
  EXPECT_EQ(fast(scores.all, 1).hits, 1);
  ASSERT_FALSE(scores.notes.empty());
}

TEST(Sample, HostileVerdictsLoseWhatCannotBe) {
  json v = verdict(4);
  v["baselines"]["eager"]["speedup"]["ratio"] = -1;
  v["baselines"]["</script>"] = v["baselines"]["torch_compile"];
  v["baselines"]["torch_compile"]["speedup"] = "fast";
  v["candidate"]["ms"]["mean"] = std::numeric_limits<double>::infinity();
  v["plan"]["custom_share"] = 7;
  v["phases"] = {1, {{"phase", 3}, {"s", "x"}}};
  const Sample s = sample(1, v);
  EXPECT_FALSE(s.speedup());
  EXPECT_EQ(s.baselines.size(), 2U);
  EXPECT_FALSE(s.mean_ms);
  EXPECT_FALSE(s.custom_share);
  EXPECT_TRUE(s.phases_s.empty());
}

TEST(Forms, HostileNamesAreNoMarkupNoFormulaAndNoNewRow) {
  score::Run run = four_tasks();
  run.tasks[0].samples[0].model = "=HYPERLINK(\"x\"),<img src=x>\n|[a](b)";
  const Scores scores = scores_of(run);
  const std::string csv = to_csv(run, scores);
  EXPECT_NE(csv.find("\"'=HYPERLINK(\"\"x\"\")"), std::string::npos);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 6);  // a header, four samples, one task without any
  const std::string markdown = to_markdown(run, scores);
  EXPECT_NE(markdown.find("\\<img src=x\\>"), std::string::npos);
  EXPECT_EQ(markdown.find("](b)"), markdown.find("\\](b)") + 1);
}

TEST(Forms, EveryFormSaysWhatItIsAScoreOf) {
  const score::Run run = four_tasks();
  const Scores scores = scores_of(run);
  const json context = to_json(run, scores)["context"];
  EXPECT_EQ(context["protocol"], "feedback");
  EXPECT_EQ(context["environments"][0]["gpu"], "H200");
  EXPECT_EQ(context["models_returned"][0]["model"], "m");
  for (const char* word : {"feedback", "H200", "mean baseline time"})
    EXPECT_NE(to_markdown(run, scores).find(word), std::string::npos) << word;
}

}  // namespace
}  // namespace kagent::score
