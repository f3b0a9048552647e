// Baselines: how they are kept, and how they are measured. The processes are scripts that talk the protocol; `world`
// says what they measure and how they fail.
#include "agent/judge/baselines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/judge/baseline_cache.h"

namespace kagent {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

// Eager 3, graphed 2.5, the null plan 2, torch.compile 1.5 and 1.2 ms; torch.compile fails the official check.
constexpr const char* kWorker = R"(import json, os, sys, time
here = os.path.dirname(os.path.abspath(__file__))
world = json.load(open(here + "/world"))
def failing(message): return {"ok": False, "error": {"stage": "time", "kind": "x", "message": message}}
def reply(request):
    cmd, kind = request["cmd"], request.get("kind", "")
    if kind.startswith("compile") and "--may-compile" not in sys.argv: return failing("may not compile")
    if cmd == "plan" and world.get("no_null_plan"): return failing("no null plan here")
    if cmd == "time_begin":
        if kind in world.get("fails", []): return failing(kind + " fails")
        if kind in world.get("hangs", []): time.sleep(60)
        return {"ok": True, **({"compile_s": 12.5} if kind.startswith("compile") else {})}
    if cmd == "time_burst":
        open(here + "/order", "a").write(kind + "\n")
        ms = {"eager": 3, "graphed_eager": 2.5, "null_plan": 2, "compile": 1.5, "compile_reduce_overhead": 1.2}[kind]
        return {"ok": True, "ms": [100 * ms] + [ms * (1 + 0.001 * (i % 3)) for i in range(request["count"] - 1)]}
    if cmd == "time_end": return {"ok": True, "peak_bytes": 10 * len(kind), "clocks": {"sm_mhz": 1980}}
    if cmd == "passes_official":
        if kind in world.get("check_fails", []): return failing("out of memory")
        wrong = 5 if kind.startswith("compile") else 0
        return {"ok": True, "passed": wrong == 0, "distributions": [{"scale": s, "violations": wrong} for s in (1, 3, 0.01, -1)]}
    return {"ok": True, "torch": "2.11.0", "cudnn": 91900, "device": {"name": "GPU", "driver": "580"}, "plan": "{}"}
for line in sys.stdin:
    print(json.dumps(reply(json.loads(line))), flush=True)
)";

class Baselines : public ::testing::Test {
 protected:
  Baselines() {
    fs::remove_all(folder_);
    put("harness/worker.py", kWorker);
    put("harness/trace.py", kWorker);
  }
  ~Baselines() override { fs::remove_all(folder_); }

  void put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file(folder_ + "/" + name, text).ok());
  }

  Result<json> measure(const json& world, double deadline_s = 60) const {
    put("harness/world", world.dump());
    Installation installation;
    installation.root = folder_;
    installation.python = "python3";
    BaselineSettings settings;
    settings.crew.task_file = folder_ + "/task.py";
    settings.kind_deadline_s = deadline_s;
    return measure_baselines(installation, settings, [](std::string_view) {});
  }

  std::string folder_ = (fs::temp_directory_path() / ("kagent-baselines-" + std::to_string(::getpid()))).string();
};

TEST_F(Baselines, AllKindsAreTimedInTurnsAndCheckedOfficially) {
  const Result<json> measured = measure(json::object());
  ASSERT_TRUE(measured.ok()) << measured.error().message;
  const json& baselines = measured.value().at("baselines");
  ASSERT_EQ(baselines.size(), 5U);
  EXPECT_NEAR(baselines.at("eager").at("ms").at("mean").get<double>(), 3.0, 0.01) << "the first run of a burst counts";
  EXPECT_NEAR(baselines.at("compile_reduce_overhead").at("over_eager").at("ratio").get<double>(), 2.5, 0.01);
  EXPECT_FALSE(baselines.at("eager").contains("over_eager"));
  EXPECT_EQ(baselines.at("null_plan").at("peak_bytes"), 90);
  EXPECT_EQ(baselines.at("compile").at("compile_s"), 12.5);
  EXPECT_EQ(baselines.at("null_plan").at("passes_official_check"), true);
  EXPECT_EQ(baselines.at("compile").at("passes_official_check"), false);
  EXPECT_EQ(baselines.at("compile").at("official").at("distributions").at(3).at("violations"), 5);
  EXPECT_EQ(measured.value().at("environment").at("torch"), "2.11.0");
  const Result<std::string> order = read_file(folder_ + "/harness/order");
  ASSERT_TRUE(order.ok());
  EXPECT_THAT(order.value(), HasSubstr("eager\ngraphed_eager\nnull_plan\ncompile\ncompile_reduce_overhead\neager\n"));
}

TEST_F(Baselines, WhatFailsOrTakesTooLongHasANoteAndTheOthersFigures) {
  const Result<json> measured =
      measure({{"hangs", {"compile"}}, {"fails", {"graphed_eager"}}, {"no_null_plan", true}}, 2);
  ASSERT_TRUE(measured.ok()) << measured.error().message;
  const json& baselines = measured.value().at("baselines");
  EXPECT_THAT(baselines.at("compile").at("note").get<std::string>(), HasSubstr("no answer within 2 s"));
  EXPECT_EQ(baselines.at("graphed_eager").at("note"), "graphed_eager fails");
  EXPECT_EQ(baselines.at("null_plan").at("note"), "no null plan here");
  for (const char* kind : {"compile", "graphed_eager", "null_plan"}) EXPECT_FALSE(baselines.at(kind).contains("ms"));
  EXPECT_NEAR(baselines.at("compile_reduce_overhead").at("ms").at("mean").get<double>(), 1.2, 0.01);
}

TEST_F(Baselines, ACheckThatCannotBeMadeLeavesTheTimes) {
  const Result<json> measured = measure({{"check_fails", {"eager"}}});
  ASSERT_TRUE(measured.ok()) << measured.error().message;
  const json& eager = measured.value().at("baselines").at("eager");
  EXPECT_TRUE(eager.contains("ms"));
  EXPECT_FALSE(eager.contains("passes_official_check"));
  EXPECT_EQ(eager.at("official").at("note"), "out of memory");
}

TEST_F(Baselines, WithoutEagerThereIsNothing) {
  const Result<json> measured = measure({{"fails", {"eager"}}});
  ASSERT_FALSE(measured.ok());
  EXPECT_EQ(measured.error().message, "eager: eager fails");
}

json environment() {
  return {
      {"torch", "2.11.0"}, {"cudnn", 91900}, {"device", {{"name", "NVIDIA H200"}, {"driver", "580"}, {"l2_bytes", 1}}}};
}

json entry_of(const json& key) { return {{"key", key}, {"baselines", {{"eager", {{"ms", {{"mean", 2.5}}}}}}}}; }

TEST_F(Baselines, AreFoundAgainOnTheSameMachineAndTask) {
  const json key = baseline_key(environment(), "abc");
  EXPECT_EQ(find_baselines(folder_, key).error().code, Code::kNotFound);
  ASSERT_TRUE(keep_baselines(folder_, entry_of(key)).ok());
  json same = environment();
  same["device"]["l2_bytes"] = 2;  // times depend on the model of GPU, which is in the key
  const Result<json> found = find_baselines(folder_, baseline_key(same, "abc"));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found.value(), entry_of(key));
}

TEST_F(Baselines, AreMeasuredAgainWhereAnythingThatTimesDependOnDiffers) {
  ASSERT_TRUE(keep_baselines(folder_, entry_of(baseline_key(environment(), "abc"))).ok());
  for (const char* path : {"/torch", "/cudnn", "/device/name", "/device/driver"}) {
    json other = environment();
    json& value = other[json::json_pointer(path)];
    value = value.is_string() ? json("another") : json(1);
    EXPECT_EQ(find_baselines(folder_, baseline_key(other, "abc")).error().code, Code::kNotFound) << path;
  }
  EXPECT_EQ(find_baselines(folder_, baseline_key(environment(), "abd")).error().code, Code::kNotFound);
}

TEST_F(Baselines, ADamagedEntryIsToldFromNone) {
  const json key = baseline_key(environment(), "abc");
  const std::string file = baseline_file(folder_, key);
  const std::string whole = entry_of(key).dump();
  json no_times = entry_of(key);
  no_times["baselines"]["eager"] = "2.5 ms";
  for (const std::string& text : {std::string(), whole.substr(0, whole.size() / 2), std::string("[]"), no_times.dump(),
                                  entry_of(baseline_key(environment(), "abd")).dump()}) {
    ASSERT_TRUE(write_file(file, text).ok());
    const Result<json> found = find_baselines(folder_, key);
    ASSERT_FALSE(found.ok()) << text;
    EXPECT_EQ(found.error().code, Code::kParse) << text;
    EXPECT_THAT(found.error().message, HasSubstr(file));
  }
  ASSERT_TRUE(write_file(file, whole).ok());
  EXPECT_TRUE(find_baselines(folder_, key).ok());
}

}  // namespace
}  // namespace kagent
