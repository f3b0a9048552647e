#include "agent/run/verify.h"

#include <gmock/gmock.h>

#include "agent/base/sha256.h"
#include "tests/agent/run/run_fixture.h"

namespace kagent::run {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Verify : public RunFixture {
 protected:
  [[nodiscard]] VerifyReport report(const std::optional<std::string>& head = std::nullopt) const {
    return verify(RunDirectory::open(folder_).value(), head).value();
  }
  // The log's lines, without newlines.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> out;
    const std::string text = log_text();
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      out.push_back(text.substr(at, text.find('\n', at) - at));
    return out;
  }
  void put_lines(const std::vector<std::string>& all) const {
    std::string text;
    for (const std::string& line : all) text += line + "\n";
    put_log(text);
  }
};

TEST_F(Verify, PassesAWholeRun) {
  fill(create());
  const VerifyReport r = report();
  EXPECT_THAT(r.problems, ElementsAre());
  EXPECT_EQ(r.tasks, 1);
  EXPECT_EQ(r.events, 6);
  EXPECT_EQ(r.blobs, 4);
  EXPECT_THAT(report(r.head).problems, ElementsAre());
}

TEST_F(Verify, FindsEveryFlippedByteOfALogWithoutAnyHead) {
  fill(create());
  const std::string whole = log_text();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    put_log(damaged);
    ASSERT_FALSE(report().problems.empty()) << "byte " << i;
  }
}

TEST_F(Verify, FindsEveryFlippedByteOfTheManifest) {
  fill(create());
  const std::string whole = read_file(folder_ + "/manifest.json").value();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    ASSERT_TRUE(write_file(folder_ + "/manifest.json", damaged).ok());
    const auto run = RunDirectory::open(folder_);
    ASSERT_FALSE(run.ok() && verify(run.value(), std::nullopt).value().problems.empty()) << "byte " << i;
  }
}

TEST_F(Verify, FindsARemovedARepeatedAndASwappedEvent) {
  fill(create());
  const std::vector<std::string> whole = lines();
  for (std::size_t i = 0; i + 1 < whole.size(); ++i) {
    std::vector<std::string> changed = whole;
    changed.erase(changed.begin() + static_cast<long>(i));
    put_lines(changed);
    EXPECT_FALSE(report().problems.empty()) << "removed " << i;
    changed = whole;
    changed.insert(changed.begin() + static_cast<long>(i), whole[i]);
    put_lines(changed);
    EXPECT_FALSE(report().problems.empty()) << "repeated " << i;
    changed = whole;
    std::swap(changed[i], changed[i + 1]);
    put_lines(changed);
    EXPECT_FALSE(report().problems.empty()) << "swapped " << i;
  }
}

TEST_F(Verify, NamesTheLine) {
  fill(create());
  std::vector<std::string> all = lines();
  all[2].replace(all[2].find("\"x\""), 3, "\"y\"");
  put_lines(all);
  EXPECT_THAT(report().problems, ElementsAre(HasSubstr("tasks/3-4/events.jsonl: line 3: ")));
}

TEST_F(Verify, FindsACutOnlyAgainstTheHead) {
  const RunDirectory run = create();
  fill(run);
  const std::string head = report().head;
  std::vector<std::string> all = lines();
  all.pop_back();
  put_lines(all);
  EXPECT_THAT(report().problems, ElementsAre(HasSubstr("not finished")));
  EXPECT_EQ(report(head).problems.size(), 2U);
  append(*run.open_task("3/4").value(), "end", {{"reason", "rewritten"}});
  EXPECT_THAT(report().problems, ElementsAre());
  EXPECT_THAT(report(head).problems, ElementsAre(HasSubstr("the head is")));
}

TEST_F(Verify, FindsAMissingOrChangedBlob) {
  fill(create());
  for (const char* text : {"the task", "the prompt", "the answer", "the plan"}) {
    const std::string hash = sha256_hex(text);
    const std::string path = folder_ + "/blobs/" + hash.substr(0, 2) + "/" + hash;
    ASSERT_TRUE(write_file(path, "another").ok());
    EXPECT_THAT(report().problems, ElementsAre(HasSubstr(hash))) << text;
    fs::remove(path);
    EXPECT_THAT(report().problems, ElementsAre(HasSubstr(hash))) << text;
    ASSERT_TRUE(write_file(path, text).ok());
  }
}

TEST_F(Verify, FindsTasksThatVanishedOrWereNeverListed) {
  identity_["tasks"] = {"3/4", "3/5"};
  fill(create());
  EXPECT_THAT(report().problems, ElementsAre(HasSubstr("tasks/3-5/events.jsonl is missing")));
  fs::create_directories(folder_ + "/tasks/3-6");
  EXPECT_EQ(report().problems.size(), 2U);
}

TEST_F(Verify, FindsALogUnderAnotherTasksName) {
  identity_["tasks"] = {"3/4", "3/5"};
  fill(create());
  fs::create_directories(folder_ + "/tasks/3-5");
  fs::copy_file(log_path(), folder_ + "/tasks/3-5/events.jsonl");
  EXPECT_THAT(report().problems, ElementsAre(HasSubstr("of another task than 3/5")));
}

TEST_F(Verify, FindsStepsThatAnHonestRunNeverTakes) {
  const std::string hash = sha256_hex("the answer");
  const nlohmann::json reply = {{"sample", 1}, {"answer_sha256", hash}};
  const nlohmann::json verdict = {{"sample", 1}, {"verdict", {{"stage", "visible"}}}};
  const nlohmann::json request = {{"sample", 1}, {"prompt_sha256", hash}};
  using Steps = std::vector<std::pair<std::string, nlohmann::json>>;
  const std::vector<std::pair<Steps, const char*>> cases = {
      {{{"reply", reply}, {"reply", reply}}, "two replies"},
      {{{"verdict", verdict}}, "no reply"},
      {{{"reply", reply}, {"verdict", verdict}}, "no judge event"},
      {{{"judge", {{"sample", 1}}}}, "judged before its reply"},
      {{{"reply", reply}, {"judge", {{"sample", 1}}}, {"verdict", verdict}, {"verdict", verdict}}, "two verdicts"},
      {{{"reply", reply}, {"request", request}}, "asked again"},
      {{{"reply", {{"sample", 2}, {"answer_sha256", hash}}}}, "sample 1 has none"},
      {{{"start", {{"task", "3/4"}}}}, "only start"},
      {{{"end", {}}}, "after the end"},
  };
  for (const auto& [steps, problem] : cases) {
    fs::remove_all(folder_);
    const RunDirectory run = create();
    const auto log = run.open_task("3/4").value();
    ASSERT_EQ(log->blobs().put("the answer").value(), hash);
    append(*log, "start", {{"task", "3/4"}});
    for (const auto& [kind, body] : steps) append(*log, kind, body);
    append(*log, "end", {});
    EXPECT_THAT(report().problems, ElementsAre(HasSubstr(problem)));
  }
}

// Samples that know nothing of each other are answered in any order; those that are told of each other are not.
TEST_F(Verify, IndependentSamplesMayBeAnsweredInAnyOrder) {
  for (const auto& [protocol, stop_when_faster, problems] :
       {std::tuple("independent", false, 0U), std::tuple("independent", true, 1U), std::tuple("feedback", false, 1U)}) {
    fs::remove_all(folder_);
    identity_["protocol"] = protocol;
    identity_["stop_when_faster"] = stop_when_faster;
    const auto log = create().open_task("3/4").value();
    const std::string hash = log->blobs().put("the answer").value();
    append(*log, "start", {{"task", "3/4"}});
    for (const int sample : {2, 1}) append(*log, "reply", {{"sample", sample}, {"answer_sha256", hash}});
    append(*log, "end", {});
    EXPECT_EQ(report().problems.size(), problems) << protocol << stop_when_faster;
  }
}

TEST_F(Verify, AcceptsAnAnswerWithoutBlocksThatWasNeverJudged) {
  const auto log = create().open_task("3/4").value();
  append(*log, "start", {{"task", "3/4"}});
  append(*log, "reply", {{"sample", 1}, {"answer_sha256", log->blobs().put("no").value()}});
  append(*log, "verdict", {{"sample", 1}, {"verdict", {{"stage", "answer"}}}});
  append(*log, "end", {});
  EXPECT_THAT(report().problems, ElementsAre());
}

}  // namespace
}  // namespace kagent::run
