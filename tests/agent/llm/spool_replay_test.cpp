#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "agent/base/file.h"
#include "agent/llm/replay_provider.h"
#include "agent/llm/spool_provider.h"
#include "fakes.h"

namespace kagent::llm {
namespace {

using testing::HasSubstr;

class Spool : public testing::Test {
 protected:
  Spool() {
    folder = testing::TempDir() + "kagent_spool_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder);
  }
  ~Spool() override { std::filesystem::remove_all(folder); }

  Result<Answer> ask(bool wait) { return spool_provider({folder, wait, 1}, clock)->complete(request, progress); }
  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(folder + "/" + name, text).ok());
  }
  std::string get(const std::string& name) { return read_file(folder + "/" + name).value(); }

  std::string folder;
  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  Recorder progress;
  Request request = ask_for("the prompt\n");
};

TEST_F(Spool, WritesThePromptAndIsPendingWithoutWaiting) {
  const auto answer = ask(false);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(std::get<Pending>(answer.value()).waiting_for, folder + "/3-4.1.answer.md");
  EXPECT_EQ(get("3-4.1.prompt.md"), "the prompt\n");
  EXPECT_EQ(clock->slept, 0);
}

TEST_F(Spool, PicksTheAnswerUpUntouchedOnTheNextStart) {
  (void)ask(false);
  put("3-4.1.answer.md", "\n the answer \r\n");
  const Reply reply = std::get<Reply>(ask(false).value());
  EXPECT_EQ(reply.text, "\n the answer \r\n");
  EXPECT_EQ(reply.provider, "spool");
  EXPECT_EQ(reply.model, "unstated (spool)");
}

TEST_F(Spool, WaitsUntilTheAnswerStopsGrowing) {
  int looks = 0;
  clock->on_sleep = [&] {
    ++looks;
    if (looks == 2) put("3-4.1.answer.md", "");  // touched: no answer yet
    if (looks == 3) put("3-4.1.answer.md", "half");
    if (looks == 4) put("3-4.1.answer.md", "half and half");
  };
  EXPECT_EQ(std::get<Reply>(ask(true).value()).text, "half and half");
  EXPECT_EQ(looks, 5);
  ASSERT_EQ(progress.lines.size(), 1u);
  EXPECT_THAT(progress.lines[0], HasSubstr("3-4.1.answer.md"));
}

TEST_F(Spool, StopsWaitingAtTheDeadlineOrWhenCancelled) {
  request.deadline_s = 10;
  EXPECT_TRUE(std::holds_alternative<Pending>(ask(true).value()));
  EXPECT_EQ(clock->slept, 10);
  progress.stop = true;
  EXPECT_EQ(ask(true).error().code, Code::kCancelled);
}

TEST_F(Spool, RecordsWhoAnsweredAsStated) {
  put("spool.json", R"({"vendor":"V","model":"M","note":"chat window"})");
  put("3-4.1.answer.md", "a");
  put("3-4.2.answer.md", "b");
  put("3-4.2.meta.json", R"({"model":"M2"})");
  EXPECT_EQ(std::get<Reply>(ask(false).value()).model, "M");
  request.sample = 2;
  const Reply reply = std::get<Reply>(ask(false).value());
  EXPECT_EQ(reply.model, "M2");
  EXPECT_EQ(reply.vendor, "V");
  EXPECT_THAT(reply.raw, HasSubstr("chat window"));
}

TEST_F(Spool, RefusesAnIdentityThatCannotBeRead) {
  for (const char* bad : {"{", "[]", R"({"modell":"M"})", R"({"model":7})"}) {
    put("spool.json", bad);
    EXPECT_EQ(spool_provider({folder}, clock)->check().error().code, Code::kParse) << bad;
  }
}

TEST_F(Spool, NeverAnswersAnotherPrompt) {
  put("3-4.1.prompt.md", "an older prompt");
  put("3-4.1.answer.md", "its answer");
  const auto answer = ask(false);
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("another prompt"));
  EXPECT_EQ(get("3-4.1.prompt.md"), "an older prompt");
}

// A link could lead out of the folder, and a FIFO would hold kagent up for ever.
TEST_F(Spool, RefusesALinkAndAFifoAsAnAnswer) {
  (void)ask(false);
  const std::string answer = folder + "/3-4.1.answer.md";
  put("elsewhere.md", "the answer");
  std::filesystem::create_symlink(folder + "/elsewhere.md", answer);
  const auto linked = ask(false);
  ASSERT_FALSE(linked.ok());
  EXPECT_THAT(linked.error().message, HasSubstr(answer));
  std::filesystem::remove(answer);
  ASSERT_EQ(::mkfifo(answer.c_str(), 0600), 0);
  const auto piped = ask(true);
  ASSERT_FALSE(piped.ok());
  EXPECT_EQ(piped.error().code, Code::kIo);
  EXPECT_THAT(piped.error().message, HasSubstr(answer));
  EXPECT_EQ(clock->slept, 0);
}

TEST_F(Spool, ARequestThatDoesNotWaitLooksOnceAndTakesWhatIsThere) {
  request.wait = false;
  EXPECT_TRUE(std::holds_alternative<Pending>(ask(true).value()));
  EXPECT_EQ(clock->slept, 0);
  EXPECT_EQ(get("3-4.1.prompt.md"), "the prompt\n");
  put("3-4.1.answer.md", "the answer");
  EXPECT_EQ(std::get<Reply>(ask(true).value()).text, "the answer");
}

TEST_F(Spool, NamesFilesPlainly) {
  EXPECT_EQ(spool_stem("3/4", 1), "3-4.1");
  EXPECT_EQ(spool_stem("file/my model.py", 2), "file-my-model.py.2");
  EXPECT_EQ(spool_stem("../../etc/passwd", 3), "-.-..-etc-passwd.3");
}

TEST_F(Spool, ChecksWhatIsHereWithoutMakingAnything) {
  EXPECT_TRUE(spool_provider({folder}, clock)->check_here().ok());
  EXPECT_FALSE(std::filesystem::exists(folder));
  put("spool.json", "{");
  EXPECT_EQ(spool_provider({folder}, clock)->check_here().error().code, Code::kParse);
  EXPECT_THAT(spool_provider({folder + "/spool.json"}, clock)->check_here().error().message, HasSubstr("is no folder"));
}

TEST_F(Spool, ChecksThatItsFolderCanBe) {
  EXPECT_TRUE(spool_provider({folder}, clock)->check().ok());
  put("file", "x");
  EXPECT_EQ(spool_provider({folder + "/file/below"}, clock)->check().error().code, Code::kIo);
}

class Record : public RecordedReplies {
 public:
  Result<std::optional<Reply>> reply(std::string_view task, int sample) override {
    if (task != "3/4") return Error{Code::kParse, "damaged"};
    if (sample > 1) return std::optional<Reply>();
    Reply reply;
    reply.text = "recorded";
    reply.model = "model-of-then";
    reply.provider = "spool";
    return std::optional<Reply>(reply);
  }
};

TEST(Replay, GivesTheRecordedReplyAndItsIdentity) {
  const auto provider = replay_provider("runs/demo", std::make_unique<Record>());
  Progress quiet;
  Request request = ask_for("p");
  EXPECT_TRUE(provider->check().ok());
  const Reply reply = std::get<Reply>(provider->complete(request, quiet).value());
  EXPECT_EQ(reply.text, "recorded");
  EXPECT_EQ(reply.model, "model-of-then");
  EXPECT_EQ(reply.provider, "spool");
  request.sample = 2;
  EXPECT_THAT(std::get<NoMore>(provider->complete(request, quiet).value()).why, HasSubstr("sample 2 of 3/4"));
  request.task = "3/9";
  EXPECT_EQ(provider->complete(request, quiet).error().code, Code::kParse);
}

}  // namespace
}  // namespace kagent::llm
