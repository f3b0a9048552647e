// kagent audit over a copy of a run that was recorded on an H200, with judges reached through files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/audit/required_rules.h"
#include "agent/base/file.h"
#include "agent/run/run_directory.h"
#include "tests/agent/command/program.h"

namespace kagent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

std::string opinion(const std::string& label) {
  return "I read it.\n\n```json\n{\"label\": \"" + label +
         "\", \"confidence\": 0.8, \"reason\": \"step 0 does it\"}\n```\n";
}

class AuditCommand : public ::testing::Test {
 protected:
  AuditCommand() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::copy(fs::path(KAGENT_SOURCE_DIR) / "runs" / "3-4-claude", run_, fs::copy_options::recursive);
  }
  ~AuditCommand() override { fs::remove_all(folder_); }

  [[nodiscard]] Outcome audit(const std::string& more = "") const { return run_kagent("audit " + run_ + " " + more); }
  [[nodiscard]] Outcome audit_by_both(const std::string& more = "") const {
    return audit("--judge spool:" + folder_ + "/a --judge spool:" + folder_ + "/b " + more);
  }
  // The same run as if it had been judged with a record of rules.
  void give_record() const {
    const auto recorded = run::RunDirectory::open(run_).value();
    const std::string folder = folder_ + "/with-record";
    const auto identity = recorded.manifest()["identity"];
    const auto run = run::RunDirectory::create_or_resume(folder, identity, {{"copied", true}}).value();
    const auto log = run.open_task("3/4").value();
    nlohmann::json rules = nlohmann::json::array();
    for (const auto rule : audit::required_rules())
      rules.push_back({{"rule", rule}, {"version", find_rule(rule)->version}, {"outcome", "pass"}});
    const run::Chain chain = recorded.read_task("3/4").value();
    for (nlohmann::json event : chain.events) {
      if (event["kind"] == "verdict") event["verdict"]["rules"] = rules;
      ASSERT_TRUE(log->append(event["kind"].get<std::string>(), event).ok());
    }
    fs::rename(run_ + "/blobs", folder + "/blobs");
    fs::remove_all(run_);
    fs::rename(folder, run_);
  }
  void answer(const std::string& file, const std::string& text) const {
    ASSERT_TRUE(write_file(folder_ + "/" + file, text).ok());
  }
  [[nodiscard]] nlohmann::json json_of(const std::string& more) const {
    const std::string text = audit(more + " --json").text;
    return nlohmann::json::parse(text.substr(text.find('{')), nullptr, false);
  }

  std::string folder_ = (fs::temp_directory_path() / ("kagent-audit-" + std::to_string(::getpid()))).string();
  std::string run_ = folder_ + "/run";
};

TEST_F(AuditCommand, FailsAKernelThatWasJudgedBeforeThereWereRecords) {
  for (const char* judges : {"", "--no-judges"}) {
    const Outcome outcome = audit(judges);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.text, HasSubstr("no record of rules"));
    EXPECT_THAT(outcome.text, HasSubstr("judges: open (none configured)"));
    EXPECT_THAT(outcome.text, Not(HasSubstr("passed")));
  }
  EXPECT_FALSE(fs::exists(run_ + "/audit.jsonl"));
  EXPECT_FALSE(fs::exists(run_ + "/lease"));
}

TEST_F(AuditCommand, AsksTwoJudgesThroughFilesAndGoesOnWhenTheyHaveAnswered) {
  const Outcome asked = audit_by_both();
  EXPECT_THAT(asked.text, HasSubstr("have " + folder_ + "/a/audit-3-4.1.prompt.md answered in "));
  EXPECT_THAT(asked.text, HasSubstr("open (0 of 2 complete)"));
  const std::string prompt = read_file(folder_ + "/b/audit-3-4.1.prompt.md").value();
  EXPECT_EQ(prompt, read_file(folder_ + "/a/audit-3-4.1.prompt.md").value());
  EXPECT_THAT(prompt, HasSubstr("class Model(nn.Module)"));
  EXPECT_THAT(prompt, HasSubstr("asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\""));
  EXPECT_THAT(prompt, HasSubstr("forward: "));
  EXPECT_THAT(prompt, Not(HasSubstr("LeNet-5, fully fused")));  // the author's first comment

  answer("a/audit-3-4.1.answer.md", opinion("legitimate"));
  EXPECT_THAT(audit_by_both().text, HasSubstr("open (1 of 2 complete)"));
  answer("b/audit-3-4.1.answer.md", "It is legitimate.");
  EXPECT_THAT(audit_by_both().text, HasSubstr("b/audit-3-4.again.1.prompt.md answered in "));
  answer("b/audit-3-4.again.1.answer.md", opinion("legitimate"));
  EXPECT_THAT(audit_by_both().text, HasSubstr("legitimate (2 agree)"));

  // Nobody is asked again, with the judges' folders gone too.
  fs::remove_all(folder_ + "/a");
  const Outcome again = audit_by_both();
  EXPECT_THAT(again.text, Not(HasSubstr("asking")));
  EXPECT_FALSE(fs::exists(folder_ + "/a"));
  EXPECT_EQ(again.exit_code, 1);  // the record is missing all the same
  const nlohmann::json report = json_of("");
  EXPECT_EQ(report["samples"][0]["agreement"], "legitimate");
  EXPECT_EQ(report["samples"][0]["judges"][0]["confidence"], 0.8);

  const Outcome verified = run_kagent("log verify " + run_);
  EXPECT_EQ(verified.exit_code, 0) << verified.text;
  EXPECT_THAT(verified.text, HasSubstr("audit head " + report["audit_head"].get<std::string>()));
}

TEST_F(AuditCommand, IsOpenUntilTwoJudgesAgree) {
  give_record();
  EXPECT_EQ(audit().exit_code, 3);
  EXPECT_EQ(audit("--no-judges").exit_code, 0);
  EXPECT_EQ(audit_by_both().exit_code, 3);
  answer("a/audit-3-4.1.answer.md", opinion("legitimate"));
  EXPECT_EQ(audit_by_both().exit_code, 3);
  answer("b/audit-3-4.1.answer.md", opinion("legitimate"));
  const Outcome agreed = audit_by_both();
  EXPECT_EQ(agreed.exit_code, 0) << agreed.text;
  EXPECT_EQ(audit().exit_code, 0);
  EXPECT_EQ(run_kagent("log verify " + run_).exit_code, 0);
}

TEST_F(AuditCommand, ShowsJudgesThatDisagree) {
  give_record();
  ASSERT_NE(audit_by_both().exit_code, 2);
  answer("a/audit-3-4.1.answer.md", opinion("legitimate"));
  answer("b/audit-3-4.1.answer.md", opinion("speed_hack"));
  EXPECT_THAT(audit_by_both().text, HasSubstr("not legitimate (judges disagree)"));
  // Waiving judges does not unsay what one has said.
  const Outcome waived = audit("--no-judges");
  EXPECT_THAT(waived.text, HasSubstr("speed_hack"));
  EXPECT_EQ(waived.exit_code, 1);
}

TEST_F(AuditCommand, RefusesToCallOneJudgeTwo) {
  const Outcome outcome = audit("--judge spool:" + folder_ + "/a --judge spool:" + folder_ + "/a/");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.text, HasSubstr("is given twice"));
}

TEST_F(AuditCommand, IsAnErrorOnADamagedAudit) {
  ASSERT_NE(audit_by_both().exit_code, 2);
  const std::string text = read_file(run_ + "/audit.jsonl").value();
  ASSERT_TRUE(write_file(run_ + "/audit.jsonl", text.substr(text.find('\n') + 1)).ok());
  EXPECT_EQ(audit().exit_code, 2);
  EXPECT_EQ(run_kagent("log verify " + run_).exit_code, 1);
}

}  // namespace
}  // namespace kagent
