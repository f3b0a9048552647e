// One judge that says what it is told, over a run of one accepted sample.
#include "agent/audit/ask.h"

#include <gmock/gmock.h>

#include <deque>

#include "agent/audit/judgement.h"
#include "agent/run/verify.h"
#include "tests/agent/run/run_fixture.h"

namespace kagent::audit {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class FakeJudge : public llm::Provider {
 public:
  [[nodiscard]] std::string name() const override { return "fake:judge"; }
  Status check() override { return Ok{}; }
  Result<llm::Answer> complete(const llm::Request& request, llm::Progress& progress) override {
    requests.push_back(request);
    progress.attempt({1, 500, "server error", 0.1, 0.2, "", {}});
    if (replies.empty()) return llm::Answer(llm::Pending{"p", "a"});
    llm::Reply reply;
    reply.text = replies.front();
    reply.model = "fake-1";
    reply.vendor = "nobody";
    replies.pop_front();
    return llm::Answer(reply);
  }

  std::deque<std::string> replies;
  std::vector<llm::Request> requests;
};

constexpr const char* kLegitimate =
    "```json\n{\"label\": \"legitimate\", \"confidence\": 0.7, \"reason\": \"it does\"}\n```\n";

class Ask : public run::RunFixture {
 protected:
  Ask() {
    run::RunDirectory run = create();
    const auto log = run.open_task("3/4").value();
    const auto blob = [&](const char* text) { return log->blobs().put(text).value(); };
    append(*log, "start", {{"task", "3/4"}, {"task_sha256", blob("class Model: pass\n")}});
    for (const int sample : {1, 2}) {
      append(*log, "reply", {{"sample", sample}, {"answer_sha256", blob("the answer")}, {"model", "x"}});
      append(*log, "judge", {{"sample", sample}});
      append(*log, "verdict",
             {{"sample", sample},
              {"verdict", {{"outcome", sample == 1 ? "accepted" : "rejected"}, {"backend", "cuda"}}},
              {"artifacts", {{"plan.json", blob("{}")}, {"preprocessed.cu", blob("int a; // b\n")}}}});
    }
    append(*log, "end", {{"reason", "all samples used"}});
  }

  // As a new process would: from what is on disk.
  Status ask_again() {
    const run::RunDirectory run = run::RunDirectory::open(folder_).value();
    const auto log = run.open_audit().value();
    const AskContext context{*log,
                             run.blobs(),
                             "{{{source}}}{{{cuda}}}{{{plan}}}{{{again}}}",
                             {},
                             [](std::string_view plan) { return "plan " + std::string(plan); },
                             [&](std::string_view line) { said_ += std::string(line) + "\n"; }};
    return ask(context, sample(), judge_);
  }

  [[nodiscard]] Sample sample() const {
    const auto samples = accepted_samples(run::RunDirectory::open(folder_).value());
    EXPECT_EQ(samples.value().size(), 1U);
    return samples.value()[0];
  }

  [[nodiscard]] Judgement judgement() const {
    const run::RunDirectory run = run::RunDirectory::open(folder_).value();
    const auto all = judgements_of(sample(), run.read_audit().value().events, run.blobs()).value();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? Judgement{} : all[0];
  }

  [[nodiscard]] run::VerifyReport verified() const {
    return run::verify(run::RunDirectory::open(folder_).value(), std::nullopt).value();
  }

  FakeJudge judge_;
  std::string said_;
};

TEST_F(Ask, KeepsAnOpinionAndNeverAsksForItAgain) {
  judge_.replies = {kLegitimate};
  ASSERT_TRUE(ask_again().ok());
  ASSERT_TRUE(ask_again().ok());
  ASSERT_EQ(judge_.requests.size(), 1U);
  EXPECT_THAT(judge_.requests[0].prompt, HasSubstr("class Model: pass"));
  EXPECT_THAT(judge_.requests[0].prompt, HasSubstr("plan {}"));
  EXPECT_THAT(judge_.requests[0].prompt, Not(HasSubstr("// b")));
  const Judgement j = judgement();
  EXPECT_EQ(j.judge, "fake:judge");
  EXPECT_EQ(j.model, "fake-1");
  EXPECT_TRUE(j.whole);
  ASSERT_TRUE(j.opinion);
  EXPECT_EQ(j.opinion->label, Label::kLegitimate);
}

TEST_F(Ask, AsksOnceMoreAfterAReplyThatCannotBeRead) {
  judge_.replies = {"yes, fine", kLegitimate};
  ASSERT_TRUE(ask_again().ok());
  ASSERT_EQ(judge_.requests.size(), 2U);
  EXPECT_THAT(judge_.requests[1].prompt, HasSubstr("exactly one fenced block"));
  EXPECT_NE(judge_.requests[0].task, judge_.requests[1].task);
  EXPECT_TRUE(judgement().opinion);
}

TEST_F(Ask, LeavesItAtTwoRepliesThatCannotBeRead) {
  judge_.replies = {"yes", "yes!", kLegitimate};
  ASSERT_TRUE(ask_again().ok());
  ASSERT_TRUE(ask_again().ok());
  EXPECT_EQ(judge_.requests.size(), 2U);
  const Judgement j = judgement();
  EXPECT_FALSE(j.opinion);
  EXPECT_FALSE(j.pending());
  EXPECT_THAT(j.unparsed, HasSubstr("exactly one"));
}

TEST_F(Ask, GoesOnWhereAnAnswerWasNotThereYet) {
  ASSERT_TRUE(ask_again().ok());
  EXPECT_TRUE(judgement().pending());
  EXPECT_THAT(said_, HasSubstr("have p answered in a"));
  judge_.replies = {"yes"};
  ASSERT_TRUE(ask_again().ok());  // the second question waits now
  EXPECT_TRUE(judgement().pending());
  EXPECT_EQ(judgement().replies, 1);
  judge_.replies = {kLegitimate};
  ASSERT_TRUE(ask_again().ok());
  EXPECT_TRUE(judgement().opinion);
}

TEST_F(Ask, DoesNotTakeAnOpinionOnOtherCode) {
  judge_.replies = {kLegitimate};
  ASSERT_TRUE(ask_again().ok());
  Sample other = sample();
  other.subject["cuda"] = other.subject["plan"];
  const run::RunDirectory run = run::RunDirectory::open(folder_).value();
  EXPECT_TRUE(judgements_of(other, run.read_audit().value().events, run.blobs()).value().empty());
}

TEST_F(Ask, LeavesARunThatVerifiesWithTheSameHead) {
  const std::string head = verified().head;
  EXPECT_EQ(verified().audit_head, "");
  judge_.replies = {"yes", kLegitimate};
  ASSERT_TRUE(ask_again().ok());
  const run::VerifyReport report = verified();
  EXPECT_THAT(report.problems, ::testing::IsEmpty());
  EXPECT_EQ(report.head, head);
  EXPECT_EQ(report.audit_head.size(), 64U);
}

TEST_F(Ask, IsFoundOutWhenTheAuditIsChanged) {
  judge_.replies = {"yes", kLegitimate};
  ASSERT_TRUE(ask_again().ok());
  const std::string path = folder_ + "/audit.jsonl";
  const std::string whole = read_file(path).value();
  for (std::size_t i = 0; i < whole.size(); i += 37) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    ASSERT_TRUE(write_file(path, damaged).ok());
    ASSERT_THAT(verified().problems, Not(::testing::IsEmpty())) << "byte " << i;
  }
  ASSERT_TRUE(write_file(path, whole).ok());
  const std::string reply =
      run::RunDirectory::open(folder_).value().read_audit().value().events.back()["answer_sha256"];
  ASSERT_TRUE(write_file(folder_ + "/blobs/" + reply.substr(0, 2) + "/" + reply, "no").ok());
  EXPECT_THAT(verified().problems, ::testing::SizeIs(1));
}

TEST_F(Ask, IsFoundOutWhenAReplyHasNoRequest) {
  const run::RunDirectory run = run::RunDirectory::open(folder_).value();
  const std::string blob = run.blobs().put("x").value();
  const nlohmann::json reply = {{"task", "3/4"},         {"sample", 1},           {"judge", "j"}, {"ask", 1},
                                {"prompt_sha256", blob}, {"answer_sha256", blob}, {"model", "m"}, {"vendor", ""}};
  ASSERT_TRUE(run.open_audit().value()->append("audit_reply", reply).ok());
  EXPECT_THAT(verified().problems,
              ::testing::ElementsAre(HasSubstr("audit.jsonl: line 1: a reply without its request")));
}

}  // namespace
}  // namespace kagent::audit
