// Copies of one run, worked on apart and brought together.
#include "agent/run/merge.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "agent/run/verify.h"
#include "tests/agent/run/run_fixture.h"

namespace kagent::run {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Merge : public RunFixture {
 protected:
  Merge() {
    identity_["tasks"] = {"3/4", "3/9"};
    fs::remove_all(copy_);
  }
  ~Merge() override { fs::remove_all(copy_); }

  // As a machine would get it that has no common disk with this one.
  RunDirectory copy() {
    fs::copy(folder_, copy_, fs::copy_options::recursive);
    return RunDirectory::open(copy_).value();
  }
  static void begin(const RunDirectory& run, const std::string& task, const std::string& answer = "") {
    const auto log = run.open_task(task).value();
    append(*log, "start", {{"task", task}, {"task_sha256", log->blobs().put("the text of " + task).value()}});
    if (!answer.empty()) append(*log, "reply", {{"sample", 1}, {"answer_sha256", log->blobs().put(answer).value()}});
  }
  static std::string all_of(const std::string& folder) {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file() && entry.path().filename() != "lease")
        files.push_back(entry.path().string() + ": " + read_file(entry.path().string()).value());
    }
    std::sort(files.begin(), files.end());
    std::string all;
    for (const auto& file : files) all += file + "\n";
    return all;
  }

  std::string copy_ = folder_ + "-copy";
};

TEST_F(Merge, TakesTheLongerLogOfEachTaskAndItsBlobs) {
  const RunDirectory run = create();
  begin(run, "3/4");
  const RunDirectory other = copy();
  fs::remove_all(copy_ + "/tasks/3-4");  // a shard of its own: the other task only
  begin(other, "3/9", "the answer");
  const auto log = run.open_task("3/4").value();
  append(*log, "resume", {{"problem", "here it went on"}});

  const auto merged = merge(run, {other});
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  ASSERT_EQ(merged.value().logs.size(), 1U);
  EXPECT_EQ(merged.value().logs[0].name, "3/9");
  EXPECT_EQ(merged.value().logs[0].from, copy_);
  EXPECT_EQ(merged.value().logs[0].events, 2U);
  EXPECT_EQ(merged.value().blobs, 2);
  EXPECT_EQ(run.read_task("3/4").value().events.size(), 2U);
  EXPECT_EQ(run.read_task("3/9").value().events.size(), 2U);
  const VerifyReport report = verify(run, std::nullopt).value();
  EXPECT_EQ(static_cast<int>(report.problems.size()), report.unfinished) << report.problems[0];
}

TEST_F(Merge, OfAGrownCopyGoesOnFromTheCommonBeginningAndAgainDoesNothing) {
  const RunDirectory run = create();
  begin(run, "3/4");
  const RunDirectory other = copy();
  append(*other.open_task("3/4").value(), "resume", {});
  EXPECT_EQ(merge(run, {other}).value().logs[0].events_before, 1U);
  const std::string once = all_of(folder_);
  EXPECT_TRUE(merge(run, {other}).value().logs.empty());
  EXPECT_TRUE(merge(other, {run}).value().logs.empty());
  EXPECT_EQ(all_of(folder_), once);
  append(*run.open_task("3/4").value(), "resume", {});
}

TEST_F(Merge, OfSeveralCopiesTakesTheLongest) {
  const RunDirectory run = create();
  begin(run, "3/4");
  const RunDirectory longer = copy();
  const std::string shorter_folder = folder_ + "-shorter";
  fs::remove_all(shorter_folder);
  append(*longer.open_task("3/4").value(), "resume", {});
  fs::copy(copy_, shorter_folder, fs::copy_options::recursive);
  append(*longer.open_task("3/4").value(), "resume", {});
  const RunDirectory shorter = RunDirectory::open(shorter_folder).value();
  EXPECT_EQ(merge(run, {shorter, longer}).value().logs[0].events, 3U);
  fs::remove_all(shorter_folder);
}

TEST_F(Merge, OfLogsThatWentDifferentWaysTouchesNothingAndNamesTheTask) {
  const RunDirectory run = create();
  begin(run, "3/4");
  const RunDirectory other = copy();
  append(*run.open_task("3/4").value(), "resume", {{"problem", "here"}});
  append(*other.open_task("3/4").value(), "resume", {{"problem", "there"}});
  begin(other, "3/9");  // would merge
  const std::string before = all_of(folder_);
  const auto merged = merge(run, {other});
  ASSERT_FALSE(merged.ok());
  EXPECT_EQ(merged.error().code, Code::kUsage);
  EXPECT_THAT(merged.error().message,
              HasSubstr("3/4: " + folder_ + " and " + copy_ + " went different ways at line 2"));
  EXPECT_EQ(all_of(folder_), before);
}

TEST_F(Merge, OfAnotherRunIsRefused) {
  const RunDirectory run = create();
  begin(run, "3/4");
  const RunDirectory other = RunDirectory::create_or_resume(copy_, {{"tasks", {"3/4"}}}, {}).value();
  EXPECT_THAT(merge(run, {other}).error().message, HasSubstr("it is a run of something else"));
  fs::remove_all(copy_);
  const RunDirectory twin = RunDirectory::create_or_resume(copy_, identity_, {{"machine", "another"}}).value();
  EXPECT_THAT(merge(run, {twin}).error().message, HasSubstr("the same command began both"));
}

TEST_F(Merge, OfADamagedCopyTouchesNothing) {
  const RunDirectory run = create();
  const RunDirectory other = copy();
  begin(other, "3/4", "the answer");
  begin(other, "3/9");
  const std::string path = copy_ + "/tasks/3-9/events.jsonl";
  std::string damaged = read_file(path).value();
  damaged[damaged.size() / 2] ^= 1;
  ASSERT_TRUE(write_file(path, damaged).ok());
  const std::string before = all_of(folder_);
  EXPECT_EQ(merge(run, {other}).error().code, Code::kParse);
  EXPECT_EQ(all_of(folder_), before);
}

TEST_F(Merge, OfACopyThatLacksABlobTouchesNothing) {
  const RunDirectory run = create();
  const RunDirectory other = copy();
  begin(other, "3/4");
  begin(other, "3/9");
  const std::string blob = other.read_task("3/9").value().events[0]["task_sha256"].get<std::string>();
  fs::remove(copy_ + "/blobs/" + blob.substr(0, 2) + "/" + blob);
  const std::string before = all_of(folder_);
  EXPECT_THAT(merge(run, {other}).error().message, HasSubstr("3/9: nothing was merged"));
  EXPECT_EQ(all_of(folder_), before);
}

TEST_F(Merge, WaitsForNobodyWhoWritesTheTask) {
  const RunDirectory run = create();
  const RunDirectory other = copy();
  begin(other, "3/4");
  const auto held = run.open_task("3/4").value();
  EXPECT_EQ(merge(run, {other}).error().code, Code::kBusy);
}

// A log that is being written has only a beginning of its last line.
TEST_F(Merge, TakesTheWholeLinesOfACopyThatIsBeingWritten) {
  const RunDirectory run = create();
  const RunDirectory other = copy();
  begin(other, "3/4", "the answer");
  const std::string path = copy_ + "/tasks/3-4/events.jsonl";
  ASSERT_TRUE(write_file(path, read_file(path).value() + "{\"kind\": \"ju").ok());
  EXPECT_EQ(merge(run, {other}).value().logs[0].events, 2U);
  EXPECT_TRUE(run.read_task("3/4").value().torn.empty());
}

TEST_F(Merge, KeepsATornTailOfTheLogThatGrows) {
  const RunDirectory run = create();
  begin(run, "3/4");
  const RunDirectory other = copy();
  append(*other.open_task("3/4").value(), "resume", {});
  const std::string whole = log_text();
  put_log(whole + "{\"kind\": \"re");
  ASSERT_TRUE(merge(run, {other}).ok());
  EXPECT_EQ(read_file(folder_ + "/tasks/3-4/torn-" + std::to_string(whole.size())).value(), "{\"kind\": \"re");
  EXPECT_EQ(log_text(), read_file(copy_ + "/tasks/3-4/events.jsonl").value());
}

TEST_F(Merge, TakesTheAuditToo) {
  const RunDirectory run = create();
  const RunDirectory other = copy();
  ASSERT_TRUE(
      other.open_audit().value()->append("audit_attempt", {{"task", "3/4"}, {"sample", 1}, {"judge", "a"}}).ok());
  EXPECT_EQ(merge(run, {other}).value().logs[0].name, "audit.jsonl");
  EXPECT_EQ(run.read_audit().value().events.size(), 1U);
}

}  // namespace
}  // namespace kagent::run
