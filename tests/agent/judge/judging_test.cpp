// What the judge makes of times and of repeats. The processes are scripts that talk the protocol; `world` says what
// they measure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/base/sha256.h"
#include "agent/judge/baseline_cache.h"
#include "agent/judge/distribution_timing.h"
#include "agent/judge/judge.h"
#include "tests/agent/judge/fake_harness.h"

namespace kagent {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

// Time of eager, the null plan and the candidate: 3, 2 and 1 ms, and all checks pass.
constexpr const char* kWorker = R"(import answers, json, os, random, sys
def main():
    here = os.path.dirname(os.path.abspath(__file__))
    world = json.load(open(here + "/world"))
    candidate = "candidate" in sys.argv
    state = {"bursts": 0}
    if candidate: open(here + "/candidates", "a").write("x")
    def written(path, text): open(path, "w").write(text)
    def judged(request):
        text = open(request["file"]).read()
        return not any(word in text for word in ("wrong", "nothing", "copy"))
    def time_of(kind):
        again = os.path.getsize(here + "/candidates") > 1
        ms = world.get("again", {}).get(kind) if again else None
        return ms or world.get("ms", {}).get(kind) or {"eager": 3, "graphed_eager": 2.5, "null_plan": 2, "plan": 1}[kind]
    def reply(request):
        cmd = request["cmd"]
        if cmd == "plan" and request.get("reference") and world.get("no_null_plan"):
            return {"ok": False, "error": {"stage": "validate", "kind": "x", "message": "none"}}
        if cmd == "run":
            state["repeats"] = state.get("repeats", 0) + (request["seed"] == world.get("seed") and "guards" not in request)
            results = world.get("results", ["right"])
            nth = results[state["repeats"] % len(results)] if request["seed"] == world.get("seed") else "right"
            nth = world.get("all_results", nth)
            together = request.get("kernel") == "*" and world.get("idle") == request["stand_in"]
            written(request["out"], "an ulp off" if together else nth + request.get("stand_in", "") + request.get("kernel", ""))
            return {"ok": True, "replaced": 1}
        if cmd == "compare": return {"ok": True, "passed": "far" not in open(request["file"]).read()}
        if cmd == "examine": return {"ok": True, "passed": judged(request), "reason": "less accurate", "sensitive": True}
        if cmd == "prepare_moves": return {"ok": True, "moves_only": True}
        if cmd == "time_begin":
            if request["kind"] == "null_plan" and world.get("no_null_plan"):
                return {"ok": False, "error": {"stage": "internal", "kind": "x", "message": "no plan"}}
            if request["seed"] != world["timed_seed"]: return {"ok": False, "error": {"stage": "time", "kind": "other_seed", "message": ""}}
            return {"ok": True, "floor_ms": world.get("floor_ms", 0)}
        if cmd == "time_burst":
            state["bursts"] += 1
            slow = candidate and state["bursts"] in world.get("slowed", [])
            ms = time_of(request["kind"])
            return {"ok": True, "ms": [ms * (1 + 0.001 * (i % 3)) for i in range(request["count"])],
                    "slowed_by": ["thermal_hardware"] if slow else []}
        if cmd == "time_check":
            written(request["out"], world.get("timed", "right"))
            return {"ok": True, "seed": 1, "scale": 1.0, "calls": 1}
        if cmd == "time_distributions":
            return {"ok": True, "ms": world.get("distributions", {}).get(request["kind"], {"x1": 1, "x3": 1})}
        return {"ok": True, "device": {"name": "GPU", "arch": "sm_90a"}, "regimes": ["redrawn", "he", "peaky"], "peak_bytes": 1}
    answers.serve(reply)
)";

class Judging : public ::testing::Test {
 protected:
  Judging() {
    fs::remove_all(folder_);
    put_fake_harness(folder_, R"(['k'])", kWorker);
  }
  ~Judging() override { fs::remove_all(folder_); }

  void put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file(folder_ + "/" + name, text).ok());
  }

  Verdict judge(json world) const {
    const Seeds seeds = draw_seeds();
    world["seed"] = seeds.hidden.front().seed;
    world["timed_seed"] = seeds.timed;
    put("harness/world", world.dump());
    fs::remove(folder_ + "/harness/candidates");
    Installation installation;
    installation.root = folder_;
    installation.python = "python3";
    installation.compiler = folder_ + "/compile";
    JudgeSettings settings;
    settings.crew.gpu = "test-" + std::to_string(::getpid());
    settings.crew.backend = backend_;
    settings.crew.task_file = folder_ + "/task.py";
    installation.cache = folder_ + "/cache";
    settings.all_rules = true;
    settings.profile = false;
    auto opened = Judge::open(installation, settings, "3/4", [](std::string_view) {});
    if (!opened) {
      ADD_FAILURE() << opened.error().message;
      return {};
    }
    Artifacts artifacts;
    Verdict verdict = opened.value()->judge({"cuda", "python"}, seeds, artifacts);
    fs::remove("/tmp/kagent-gpu-" + settings.crew.gpu + ".lock");
    return verdict;
  }

  static const RuleResult* rule(const Verdict& verdict, const std::string& name) {
    for (const RuleResult& r : verdict.rules) {
      if (r.rule == name) return &r;
    }
    return nullptr;
  }
  static RuleOutcome outcome(const Verdict& verdict, const std::string& name) {
    const RuleResult* found = rule(verdict, name);
    return found == nullptr ? RuleOutcome::kNotRun : found->outcome;
  }
  // Accepted; the reason if not.
  static std::string accepted(const Verdict& verdict) {
    return verdict.outcome == Outcome::kAccepted ? "accepted" : verdict.failure ? verdict.failure->reason : "?";
  }

  std::string backend_ = "cuda";
  std::string folder_ = (fs::temp_directory_path() / ("kagent-judging-" + std::to_string(::getpid()))).string();
};

TEST_F(Judging, WhatIsOffByRoundingAloneIsUndecidedWhereItIsEmulated) {
  const json far = {{"all_results", "far"}};
  EXPECT_EQ(judge(far).outcome, Outcome::kRejected);
  backend_ = "emulate";
  const Verdict emulated = judge(far);
  ASSERT_TRUE(emulated.failure);
  EXPECT_EQ(emulated.outcome, Outcome::kUndecided);
  EXPECT_EQ(emulated.failure->kind, "only_rounding");
  EXPECT_EQ(judge({{"all_results", "far and wrong"}}).outcome, Outcome::kRejected);
}

TEST_F(Judging, AWinnerIsTimedAgainInAFreshProcess) {
  const Verdict verdict = judge(json::object());
  ASSERT_EQ(accepted(verdict), "accepted");
  EXPECT_TRUE(verdict.faster);
  EXPECT_EQ(fs::file_size(folder_ + "/harness/candidates"), 2U);
  EXPECT_NEAR(verdict.retimed.at("eager").at("again").at("ratio").get<double>(), 3.0, 0.01);
  EXPECT_EQ(outcome(verdict, "floor"), RuleOutcome::kPass);
  EXPECT_EQ(outcome(verdict, "distribution_timing"), RuleOutcome::kPass);
}

TEST_F(Judging, OfBothTimesTheLowerSpeedupCounts) {
  const Verdict verdict = judge({{"again", {{"plan", 1.5}}}});
  ASSERT_EQ(accepted(verdict), "accepted");
  EXPECT_TRUE(verdict.faster);
  EXPECT_NEAR(to_json(verdict).at("speedup").get<double>(), 2.0, 0.01);
  EXPECT_NEAR(verdict.retimed.at("eager").at("first").at("ratio").get<double>(), 3.0, 0.01);
}

TEST_F(Judging, AWinnerByLuckIsNone) {
  for (const auto& [kind, ms] : {std::pair("plan", 3.5), std::pair("null_plan", 0.9)}) {
    const Verdict verdict = judge({{"again", {{kind, ms}}}});
    ASSERT_EQ(accepted(verdict), "accepted");
    EXPECT_FALSE(verdict.faster) << kind;
  }
}

TEST_F(Judging, WithoutANullPlanNothingIsFaster) {
  const Verdict verdict = judge({{"no_null_plan", true}});
  ASSERT_EQ(accepted(verdict), "accepted");
  EXPECT_FALSE(verdict.faster);
  EXPECT_EQ(outcome(verdict, "null_plan"), RuleOutcome::kNotRun);
}

TEST_F(Judging, ATimeBelowTheFloorIsAnAlarm) {
  const Verdict verdict = judge({{"floor_ms", 1.5}});
  EXPECT_EQ(verdict.outcome, Outcome::kRejected);
  ASSERT_TRUE(verdict.failure);
  EXPECT_EQ(verdict.failure->kind, "floor");
  EXPECT_EQ(outcome(verdict, "floor"), RuleOutcome::kFail);
  EXPECT_EQ(accepted(judge({{"floor_ms", 0.9}})), "accepted");
}

TEST_F(Judging, ATimedRunLessAccurateThanHonestWorkIsCaught) {
  const Verdict verdict = judge({{"timed", "wrong"}});  // within the official tolerance
  ASSERT_TRUE(verdict.failure);
  EXPECT_EQ(verdict.failure->kind, "timed_output_wrong");
  EXPECT_EQ(verdict.failure->detail, "less accurate");
}

TEST_F(Judging, KernelsWhoseAbsenceLeavesTheResultAsRightDoNoWork) {
  for (const auto& [idle, caught_by] : {std::pair("nothing", "ghost"), std::pair("copy", "bypass")}) {
    const Verdict verdict = judge({{"idle", idle}});
    EXPECT_EQ(verdict.outcome, Outcome::kRejected) << idle;
    EXPECT_EQ(outcome(verdict, caught_by), RuleOutcome::kFail) << idle;
  }
}

TEST_F(Judging, AFewSlowedRoundsAreDiscardedAndCounted) {
  const Verdict verdict = judge({{"slowed", {2, 5}}});
  ASSERT_EQ(accepted(verdict), "accepted");
  EXPECT_TRUE(verdict.faster);
  ASSERT_FALSE(verdict.warnings.empty());
  EXPECT_THAT(verdict.warnings.front(), HasSubstr("2 of 10 rounds of timing were discarded"));
}

TEST_F(Judging, TooManySlowedRoundsAreAnErrorOfTheMachine) {
  const Verdict verdict = judge({{"slowed", {1, 2, 3}}});
  EXPECT_EQ(verdict.outcome, Outcome::kError);
  ASSERT_TRUE(verdict.failure);
  EXPECT_EQ(verdict.failure->kind, "throttled");
  EXPECT_THAT(verdict.failure->reason, HasSubstr("thermal_hardware"));
}

TEST_F(Judging, WhoIsSlowerOnOtherDataDoesNotCount) {
  const Verdict verdict = judge({{"distributions", {{"plan", {{"x1", 1.0}, {"x-1", 1.5}}}}}});
  ASSERT_EQ(accepted(verdict), "accepted");
  EXPECT_EQ(outcome(verdict, "distribution_timing"), RuleOutcome::kFlag);
  EXPECT_FALSE(verdict.faster);
  EXPECT_EQ(fs::file_size(folder_ + "/harness/candidates"), 1U) << "no winner, nothing to time again";
}

TEST_F(Judging, WhoIsSlowerWhereTheReferenceIsTooMayCount) {
  const json eager = {{"x1", 3.0}, {"x-1", 4.5}};
  const Verdict verdict = judge({{"distributions", {{"plan", {{"x1", 1.0}, {"x-1", 1.5}}}, {"eager", eager}}}});
  EXPECT_EQ(outcome(verdict, "distribution_timing"), RuleOutcome::kPass);
  EXPECT_TRUE(verdict.faster);
}

TEST_F(Judging, EachResultThatDiffersIsExamined) {
  const Verdict same = judge(json::object());
  ASSERT_NE(rule(same, "repeatable"), nullptr);
  EXPECT_EQ(rule(same, "repeatable")->evidence, (json{{"bitwise", true}, {"runs", 6}, {"different", 1}}));
  const Verdict differs = judge({{"results", {"right a", "right b", "right c"}}});
  ASSERT_EQ(accepted(differs), "accepted");
  EXPECT_EQ(rule(differs, "repeatable")->evidence, (json{{"bitwise", false}, {"runs", 12}, {"different", 3}}));
}

TEST_F(Judging, OneInaccurateResultAmongManyIsEnough) {
  // The official check takes the first of that seed.
  json results = json::array({"right a", "right b", "right c", "right d", "right e", "right f", "right g", "wrong"});
  const Verdict verdict = judge({{"results", results}});
  EXPECT_EQ(verdict.outcome, Outcome::kRejected);
  EXPECT_EQ(outcome(verdict, "repeatable"), RuleOutcome::kFail);
  EXPECT_THAT(rule(verdict, "repeatable")->what, HasSubstr("less accurate"));
}

// What `kagent baselines` kept of the task on this machine.
json kept_baselines(const std::string& folder, const std::string& driver) {
  const json environment = {{"device", {{"name", "GPU"}, {"driver", driver}}}};
  const auto timed = [](double ms) { return json{{"ms", {{"mean", ms}, {"median", ms}, {"min", ms}, {"runs", 40}}}}; };
  json entry = {{"key", baseline_key(environment, sha256_of_file(folder + "/task.py").value())},
                {"measured_at", "2026-12-01T10:00:00.000Z"},
                {"baselines",
                 {{"eager", timed(3.2)},
                  {"null_plan", timed(2)},
                  {"compile", timed(1.5)},
                  {"compile_reduce_overhead", {{"note", "no answer within 300 s"}}}}}};
  entry["baselines"]["eager"]["passes_official_check"] = true;
  entry["baselines"]["compile"]["passes_official_check"] = false;
  entry["baselines"]["compile"]["peak_bytes"] = 7;
  return entry;
}

TEST_F(Judging, BaselinesThatWereKeptStandBesideTheMeasuredOnes) {
  put("task.py", "a task");
  ASSERT_TRUE(keep_baselines(folder_ + "/cache", kept_baselines(folder_, "")).ok());
  const Verdict verdict = judge(json::object());
  ASSERT_EQ(accepted(verdict), "accepted");
  const json baselines = to_json(verdict).at("baselines");
  const json& compile = baselines.at("compile");
  EXPECT_EQ(compile.at("from_cache"), true);
  EXPECT_NEAR(compile.at("speedup").at("ratio").get<double>(), 1.5, 0.01);
  EXPECT_FALSE(compile.at("speedup").contains("low")) << "it was not timed beside the candidate";
  EXPECT_THAT(compile.at("note").get<std::string>(), HasSubstr("measured on 2026-12-01T10:00:00.000Z, not beside"));
  EXPECT_THAT(compile.at("note").get<std::string>(), HasSubstr("3.2 ms"));
  EXPECT_EQ(compile.at("passes_official_check"), false);
  EXPECT_EQ(compile.at("peak_bytes"), 7);
  EXPECT_EQ(baselines.at("compile_reduce_overhead").at("note"), "no answer within 300 s");
  EXPECT_FALSE(baselines.at("compile_reduce_overhead").contains("ms"));
  EXPECT_EQ(baselines.at("eager").at("passes_official_check"), true);
  EXPECT_NEAR(baselines.at("eager").at("ms").at("mean").get<double>(), 3.0, 0.01) << "measured now, not kept";
  EXPECT_FALSE(baselines.at("null_plan").contains("passes_official_check")) << "the entry does not say";
}

TEST_F(Judging, BaselinesOfAnotherDriverOrTaskAreNotUsed) {
  put("task.py", "a task");
  ASSERT_TRUE(keep_baselines(folder_ + "/cache", kept_baselines(folder_, "another")).ok());
  EXPECT_EQ(judge(json::object()).baselines.count("compile"), 0U);
  ASSERT_TRUE(keep_baselines(folder_ + "/cache", kept_baselines(folder_, "")).ok());
  put("task.py", "another task");
  EXPECT_EQ(judge(json::object()).baselines.count("compile"), 0U);
}

TEST_F(Judging, ADamagedEntryIsNamedAndTheVerdictStands) {
  put("task.py", "a task");
  const std::string file = baseline_file(folder_ + "/cache", kept_baselines(folder_, "").at("key"));
  ASSERT_TRUE(write_file(file, "{\"key\": ").ok());
  const Verdict verdict = judge(json::object());
  EXPECT_EQ(accepted(verdict), "accepted");
  ASSERT_FALSE(verdict.warnings.empty());
  EXPECT_THAT(verdict.warnings.front(), HasSubstr("no cached baselines: "));
}

TEST(DistributionTiming, SmallAndShortDifferencesAreNoise) {
  EXPECT_EQ(slower_distribution({{"x1", 1.0}, {"x3", 1.19}}, {}), "");
  EXPECT_EQ(slower_distribution({{"x1", 0.025}, {"x3", 0.0349}}, {}), "");  // under 10 us
  EXPECT_EQ(slower_distribution({{"x1", 0.025}, {"x3", 0.0351}}, {}), "x3");
  EXPECT_EQ(slower_distribution({{"x1", 1.0}, {"x3", 1.3}, {"redrawn", 1.6}}, {}), "x3");
  EXPECT_EQ(slower_distribution({{"x1", 1.0}, {"redrawn", 1.9}}, {}), "");  // a graph and a prepare of its own
  EXPECT_EQ(slower_distribution({{"x1", 1.0}, {"x3", 1.3}, {"redrawn", 2.6}}, {}), "redrawn");
  EXPECT_EQ(slower_distribution({{"x1", 1.0}, {"x3", 0.5}}, {}), "");
  EXPECT_EQ(faster_distribution({{"x1", 1.0}, {"x3", 0.5}}, {}), "x3");
  EXPECT_EQ(slower_distribution({}, {}), "");
}

TEST(DistributionTiming, WhatTheReferenceShowsTooIsTheTasksOwn) {
  EXPECT_EQ(slower_distribution({{"x1", 1.0}, {"x3", 2.0}}, {{"x1", 5.0}, {"x3", 9.0}}), "");
  EXPECT_EQ(slower_distribution({{"x1", 1.0}, {"x3", 2.0}}, {{"x1", 5.0}, {"x3", 6.0}}), "x3");
  EXPECT_EQ(slower_distribution({{"x1", 1.0}, {"x3", 1.3}}, {{"x1", 5.0}, {"x3", 2.0}}), "x3");
  EXPECT_EQ(faster_distribution({{"x1", 1.0}, {"x3", 0.5}}, {{"x1", 5.0}, {"x3", 2.0}}), "");
}

TEST(RunDeadline, FollowsTheReferenceAndIsTenSecondsAtLeast) {
  EXPECT_EQ(run_deadline_s({{"drawn_s", 0.1}, {"call_s", 0.01}}), 10);
  EXPECT_EQ(run_deadline_s({{"drawn_s", 2.0}, {"call_s", 0.5}}), 45);
  EXPECT_EQ(run_deadline_s(json::object()), 10);
}

}  // namespace
}  // namespace kagent
