#include <gmock/gmock.h>

#include "agent/base/sha256.h"
#include "tests/agent/run/run_fixture.h"

namespace kagent::run {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Run : public RunFixture {};

TEST_F(Run, ResumesWhereItWas) {
  fill(create());
  const auto again = RunDirectory::create_or_resume(folder_, identity_, {{"machine", "another"}});
  ASSERT_TRUE(again.ok());
  const TaskState state = again.value().open_task("3/4").value()->state();
  ASSERT_EQ(state.samples.size(), 1U);
  EXPECT_TRUE(state.ended);
  EXPECT_TRUE(state.samples[0].reply);
  EXPECT_TRUE(state.samples[0].judge);
  EXPECT_TRUE(state.samples[0].verdict);
}

TEST_F(Run, GivesBackItsRepliesAndNoOthers) {
  const RunDirectory run = create();
  EXPECT_FALSE(recorded_reply(run, "3/4", 1).value());
  fill(run);
  const auto reply = recorded_reply(run, "3/4", 1);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply.value()->text, "the answer");
  EXPECT_EQ(reply.value()->event["model"], "x");
  EXPECT_FALSE(recorded_reply(run, "3/4", 2).value());
  EXPECT_FALSE(recorded_reply(run, "3/5", 1).value());
}

TEST_F(Run, ShowsARequestThatWasLostInFlight) {
  const RunDirectory run = create();
  const std::string prompt = run.blobs().put("p").value();
  for (int process = 0; process < 2; ++process) {
    const auto log = run.open_task("3/4").value();
    if (process == 0) append(*log, "start", {{"task", "3/4"}});
    append(*log, "request", {{"sample", 1}, {"prompt_sha256", prompt}});
  }
  const TaskState state = run.open_task("3/4").value()->state();
  EXPECT_EQ(state.samples.at(0).requests, 2);
  EXPECT_FALSE(state.samples.at(0).reply);
}

TEST_F(Run, WithAnotherModelIsRefusedAndUntouched) {
  create();
  const std::string before = read_file(folder_ + "/manifest.json").value();
  json other = identity_;
  other["model"] = "openai:y";
  const auto refused = RunDirectory::create_or_resume(folder_, other, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUsage);
  EXPECT_THAT(refused.error().message, HasSubstr("another model: \"spool:x\" there, \"openai:y\" now"));
  other = identity_;
  other["request"]["temperature"] = 1.0;
  EXPECT_THAT(RunDirectory::create_or_resume(folder_, other, {}).error().message,
              HasSubstr("another request/temperature: 0.5 there, 1.0 now"));
  EXPECT_EQ(read_file(folder_ + "/manifest.json").value(), before);
}

TEST_F(Run, NeverTakesOverAFolderThatIsNoRun) {
  fs::create_directories(folder_);
  ASSERT_TRUE(write_file(folder_ + "/precious.txt", "x").ok());
  EXPECT_EQ(RunDirectory::create_or_resume(folder_, identity_, {}).error().code, Code::kUsage);
  EXPECT_EQ(RunDirectory::open(folder_).error().code, Code::kNotFound);
}

TEST_F(Run, WithADamagedManifestIsRefusedInWords) {
  for (const char* manifest : {"", "[]", "{\"format\": \"1\"}", "{\"format\": 9}",
                               "{\"format\": 1, \"created\": \"t\", \"identity\": {\"tasks\": [7]}, \"facts\": {}}"}) {
    ASSERT_TRUE(write_file(folder_ + "/manifest.json", manifest).ok());
    EXPECT_EQ(RunDirectory::open(folder_).error().code, Code::kParse) << manifest;
  }
}

TEST_F(Run, RefusesTasksThatWouldShareAFolder) {
  EXPECT_FALSE(RunDirectory::create_or_resume(folder_, {{"tasks", {"a/b-c", "a-b/c"}}}, {}).ok());
  EXPECT_FALSE(fs::exists(folder_ + "/manifest.json"));
}

TEST(FolderOfTask, StaysInsideItsParent) {
  EXPECT_EQ(folder_of_task("3/9"), "3-9");
  for (const char* id : {"..", ".", "", "../../x", "/etc"}) {
    const std::string name = folder_of_task(id);
    EXPECT_EQ(name.find('/'), std::string::npos) << id;
    EXPECT_TRUE(name != "." && name != ".." && !name.empty()) << id;
  }
}

TEST_F(Run, IsHeldByOneProcessATask) {
  const RunDirectory run = create();
  const auto first = run.open_task("3/4");
  ASSERT_TRUE(first.ok());
  const auto second = run.open_task("3/4");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kBusy);
  EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(::getpid()) + " on "));
  EXPECT_TRUE(run.open_task("3/5").ok());  // the lease is the task's, not the run's
}

TEST_F(Run, LogsOnlyEventsThatItCanReadAgain) {
  const auto log = create().open_task("3/4").value();
  EXPECT_EQ(log->append("start", {}).error().code, Code::kInternal);
  EXPECT_EQ(log->append("strat", {{"task", "3/4"}}).error().code, Code::kInternal);
  EXPECT_EQ(log->append("reply", {{"sample", 0}, {"answer_sha256", sha256_hex("x")}}).error().code, Code::kInternal);
  EXPECT_EQ(log->append("reply", {{"sample", 1}, {"answer_sha256", "x"}}).error().code, Code::kInternal);
  EXPECT_EQ(log->append("start", json::array()).error().code, Code::kInternal);
  EXPECT_EQ(log_text(), "");
  append(*log, "start", {{"task", "3/4"}, {"odd", "\xff\n\x01"}, {"sum", "mine"}, {"seq", 99}});
  EXPECT_TRUE(parse_chain(log_text(), sha256_hex(read_file(folder_ + "/manifest.json").value())).ok());
}

TEST_F(Run, TheSameTasksInAnotherOrderAreTheSameRun) {
  identity_["tasks"] = {"3/4", "3/5"};
  const std::string first = create().manifest_sha256();
  identity_["tasks"] = {"3/5", "3/4"};
  EXPECT_EQ(create().manifest_sha256(), first);
  identity_["tasks"] = {"3/5", "3/6"};
  EXPECT_THAT(RunDirectory::create_or_resume(folder_, identity_, {}).error().message,
              HasSubstr("another tasks: [\"3/4\",\"3/5\"] there, [\"3/5\",\"3/6\"] now"));
}

TEST_F(Run, SaysWhetherItWouldTakeARunAndWritesNothing) {
  EXPECT_TRUE(RunDirectory::would_take(folder_, identity_).ok());
  EXPECT_FALSE(fs::exists(folder_));
  create();
  EXPECT_TRUE(RunDirectory::would_take(folder_, identity_).ok());
  identity_["model"] = "spool:y";
  EXPECT_THAT(RunDirectory::would_take(folder_, identity_).error().message, HasSubstr("a run with another model"));
  ASSERT_TRUE(write_file(folder_ + "/other/file", "x").ok());
  EXPECT_THAT(RunDirectory::would_take(folder_ + "/other", identity_).error().message,
              HasSubstr("is no run directory"));
}

// Whoever edits the manifest is told of the manifest, not of the logs that no longer fit it.
TEST_F(Run, AnEditedManifestIsNamedAndNotItsLogs) {
  fill(create());
  const std::string path = folder_ + "/manifest.json";
  std::string text = read_file(path).value();
  text.replace(text.find("spool:x"), 7, "spool:y");
  ASSERT_TRUE(write_file(path, text).ok());
  const RunDirectory run = RunDirectory::open(folder_).value();
  const std::string says = "the run's manifest.json is not the one that " + log_path() + " began with: ";
  EXPECT_THAT(run.read_task("3/4").error().message, StartsWith(says));
  EXPECT_THAT(run.open_task("3/4").error().message, StartsWith(says));
  put_log("{}\n" + log_text());  // and a damaged log is still a damaged log
  EXPECT_THAT(run.read_task("3/4").error().message, StartsWith(log_path() + ": line 1: "));
}

TEST_F(Run, ADamagedManifestIsNamedInOneLineThatSaysWhatToDo) {
  fill(create());
  const std::string path = folder_ + "/manifest.json";
  const json whole = json::parse(read_file(path).value());
  const auto error_after = [&](const std::string& text) {
    EXPECT_TRUE(write_file(path, text).ok());
    const auto run = RunDirectory::open(folder_);
    EXPECT_FALSE(run.ok()) << text;
    return run.ok() ? "" : run.error().message;
  };
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {"", "no JSON at line 1, column 1, its end"},
           {"{\n  \"format\": oops\n}", "no JSON at line 2, column 13"},
           {"[]", "run format 0; this kagent reads format 1"},
           {R"({"format": 1, "created": "t", "facts": {}})", "identity is missing"},
           {R"({"format": 1, "created": "t", "facts": {}, "identity": {"tasks": [3]}})", "a task id is no text"}}) {
    EXPECT_THAT(error_after(text), AllOf(StartsWith(path + ": " + says + "; "), HasSubstr("put it back"))) << text;
  }
}

TEST_F(Run, ReplacesADamagedBlob) {
  const RunDirectory run = create();
  const std::string hash = run.blobs().put("whole").value();
  ASSERT_TRUE(write_file(folder_ + "/blobs/" + hash.substr(0, 2) + "/" + hash, "whale").ok());
  EXPECT_EQ(run.blobs().get(hash).error().code, Code::kParse);
  EXPECT_EQ(run.blobs().put("whole").value(), hash);
  EXPECT_EQ(run.blobs().get(hash).value(), "whole");
  EXPECT_EQ(run.blobs().get("../../../etc/passwd").error().code, Code::kParse);
}

TEST(Chain, RefusesWholeLinesThatDoNotFit) {
  EXPECT_FALSE(parse_chain("not json\n", "p").ok());
  EXPECT_FALSE(parse_chain("{}\n", "p").ok());
  const std::string line = chain_line("start", {{"task", "3/4"}}, 0, "p", "t");
  EXPECT_TRUE(parse_chain(line + "\n", "p").ok());
  EXPECT_FALSE(parse_chain(line + "\n", "q").ok());
  EXPECT_FALSE(parse_chain(line + "\n" + line + "\n", "p").ok());
}

TEST(Chain, IsBoundedInDepth) {
  json deep = 1;
  for (int i = 0; i < 200; ++i) deep = json::array({deep});
  EXPECT_FALSE(parse_chain(chain_line("start", {{"task", "3/4"}, {"deep", deep}}, 0, "p", "t") + "\n", "p").ok());
}

}  // namespace
}  // namespace kagent::run
