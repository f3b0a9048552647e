#include "agent/llm/http_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes.h"

namespace kagent::llm {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kKey = "sk-test-0123456789-abcdefghijklmnop";

Canned whole(std::string text, std::string reason = "stop") {
  const json choice = {{"message", {{"content", text}}}, {"finish_reason", reason}};
  const json reply = {{"id", "i"}, {"model", "m-1"}, {"choices", json::array({choice})}};
  return {200, {{"content-type", "application/json"}, {"x-request-id", "req-9"}}, {reply.dump()}};
}

Canned streamed(std::vector<std::string> pieces) {
  return {200, {{"content-type", "text/event-stream; charset=utf-8"}}, std::move(pieces)};
}

Canned failed(int status, std::string body = "{}", Headers headers = {}) {
  return {status, std::move(headers), {std::move(body)}};
}

Canned broken(Broken how, int status = 0) { return {status, {}, {}, how, "why"}; }

class HttpProviderTest : public testing::Test {
 protected:
  HttpProviderTest() { make(kKey); }

  void make(std::string key) {
    auto transport = std::make_unique<FakeTransport>();
    net = transport.get();
    HttpSettings settings;
    settings.target = {"gpt-x", true, ""};
    settings.base = "https://host/v1";
    settings.key = std::move(key);
    settings.key_name = "OPENAI_API_KEY";
    settings.retry.most_attempts = 4;
    provider = std::make_unique<HttpProvider>(openai(), settings, std::move(transport), clock);
  }

  Result<Answer> ask(std::deque<Canned> canned) {
    net->canned = std::move(canned);
    return provider->complete(request, progress);
  }
  Reply reply_to(std::deque<Canned> canned) {
    Result<Answer> answer = ask(std::move(canned));
    if (!answer) {
      ADD_FAILURE() << answer.error().message;
      return {};
    }
    return std::get<Reply>(std::move(answer).value());
  }
  Error error_of(std::deque<Canned> canned) {
    Result<Answer> answer = ask(std::move(canned));
    EXPECT_FALSE(answer.ok());
    if (answer) return {};
    EXPECT_EQ(answer.error().message.find('\n'), std::string::npos);
    EXPECT_THAT(answer.error().message, Not(HasSubstr("0123456789")));
    return answer.error();
  }

  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  FakeTransport* net = nullptr;
  std::unique_ptr<HttpProvider> provider;
  Recorder progress;
  Request request = ask_for("the prompt");
};

TEST_F(HttpProviderTest, ReturnsAWholeReplyWithItsIdentity) {
  const Reply reply = reply_to({whole("hi")});
  EXPECT_EQ(reply.text, "hi");
  EXPECT_EQ(reply.model, "m-1");
  EXPECT_EQ(reply.provider, "openai");
  EXPECT_EQ(reply.vendor, "https://host");
  EXPECT_EQ(reply.request_id, "req-9");
  ASSERT_EQ(reply.attempts.size(), 1u);
  EXPECT_EQ(reply.attempts[0].http_status, 200);
  EXPECT_EQ(net->requests[0].url, "https://host/v1/chat/completions");
}

TEST_F(HttpProviderTest, ReturnsAStreamedReplyCutAnywhere) {
  const std::string stream =
      "data: {\"model\":\"m-1\",\"choices\":[{\"delta\":{\"content\":\"h\xC3\xA9\"}}]}\r\n\r\n"
      "data: {\"choices\":[{\"delta\":{\"content\":\"y\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r\n";
  for (std::size_t step = 1; step < stream.size(); step += 3) {
    std::vector<std::string> pieces;
    for (std::size_t i = 0; i < stream.size(); i += step) pieces.push_back(stream.substr(i, step));
    EXPECT_EQ(reply_to({streamed(pieces)}).text, "h\xC3\xA9y");
  }
  EXPECT_EQ(progress.most_received, 4u);
}

TEST_F(HttpProviderTest, LogsWhatWasSentWithoutPromptAndKey) {
  request.temperature = 0.25;
  request.extra = R"({"top_p":0.5,"stream_options":null})";
  const Reply reply = reply_to({whole("hi")});
  const json sent = json::parse(net->requests[0].body);
  EXPECT_EQ(sent["top_p"], 0.5);
  EXPECT_FALSE(sent.contains("stream_options"));  // null takes a field away
  EXPECT_EQ(sent["messages"][0]["content"], "the prompt");
  const json logged = json::parse(reply.request);
  EXPECT_EQ(logged["body"]["temperature"], 0.25);
  EXPECT_EQ(logged["body"]["top_p"], 0.5);
  EXPECT_THAT(reply.request, Not(HasSubstr("the prompt\"")));
  EXPECT_THAT(reply.request + reply.raw, Not(HasSubstr(kKey)));
}

TEST_F(HttpProviderTest, RetriesWhatMayPassAndRecordsEachAttempt) {
  const Reply reply = reply_to({failed(429, R"({"error":{"message":"slow down"}})", {{"retry-after", "7"}}),
                                failed(500), broken(Broken::kCut), whole("hi")});
  EXPECT_EQ(reply.text, "hi");
  ASSERT_EQ(reply.attempts.size(), 4u);
  ASSERT_EQ(progress.attempts.size(), 4u);
  EXPECT_EQ(reply.attempts[0].http_status, 429);
  EXPECT_THAT(reply.attempts[0].problem, HasSubstr("slow down"));
  EXPECT_EQ(reply.attempts[0].wait_s, 7 + 1.75);
  EXPECT_EQ(reply.attempts[1].wait_s, 2);
  EXPECT_EQ(reply.attempts[3].problem, "");
  EXPECT_DOUBLE_EQ(clock->slept, 8.75 + 2 + 4);
}

TEST_F(HttpProviderTest, ForgetsTheTextOfABrokenAttempt) {
  const std::string half = "data: {\"choices\":[{\"delta\":{\"content\":\"half \"}}]}\n\n";
  const Reply reply = reply_to({streamed({half}), whole("all")});
  EXPECT_EQ(reply.text, "all");
  EXPECT_THAT(reply.attempts[0].problem, HasSubstr("broke off"));
}

TEST_F(HttpProviderTest, TakesAFinishReasonForTheEndWhereDoneIsLeftOut) {
  EXPECT_EQ(
      reply_to({streamed({"data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n"})})
          .text,
      "x");
}

TEST_F(HttpProviderTest, GivesUpAfterTheLastAttempt) {
  const Error error = error_of({failed(503), failed(503), failed(503), failed(503), whole("never")});
  EXPECT_EQ(error.code, Code::kTransport);
  EXPECT_THAT(error.message, HasSubstr("after 4 attempts"));
  EXPECT_EQ(progress.attempts.back().wait_s, 0);
  EXPECT_EQ(error_of({failed(429), failed(429), failed(429), failed(429)}).code, Code::kBusy);
}

TEST_F(HttpProviderTest, DoesNotRetryWhatWillNotPass) {
  const struct {
    Canned answer;
    Code code;
    const char* says;
  } rows[] = {
      {failed(401, R"({"error":{"message":"no"}})"), Code::kAuth, "the key in OPENAI_API_KEY is refused"},
      {failed(403), Code::kAuth, "OPENAI_API_KEY"},
      {failed(400, R"({"error":{"message":"API key not valid"}})"), Code::kAuth, "OPENAI_API_KEY"},
      {failed(404, R"({"error":{"message":"no such"}})"), Code::kUsage, "no model \"gpt-x\""},
      {failed(400, R"({"error":{"message":"bad thing"}})"), Code::kUsage, "bad thing"},
      {failed(402), Code::kUsage, "no credit"},
      {failed(429, R"({"error":{"code":"insufficient_quota","message":"m"}})"), Code::kUsage, "no credit"},
      {failed(307, "", {{"location", "https://else"}}), Code::kUsage, "https://else"},
      {failed(429, "{}", {{"retry-after", "86400"}}), Code::kBusy, "too many requests"},
      {broken(Broken::kAddress), Code::kTransport, "cannot be reached"},
      {broken(Broken::kConnect), Code::kTransport, "cannot be reached"},
      {broken(Broken::kTls), Code::kTransport, "certificate"},
      {broken(Broken::kTooLarge, 200), Code::kTransport, "too much"},
  };
  for (const auto& row : rows) {
    make(kKey);
    const Error error = error_of({row.answer, whole("never")});
    EXPECT_EQ(error.code, row.code) << row.says;
    EXPECT_THAT(error.message, HasSubstr(row.says));
    EXPECT_EQ(net->requests.size(), 1u) << row.says;
  }
  EXPECT_EQ(clock->slept, 0);
}

TEST_F(HttpProviderTest, RetriesAnOutageOfAHostThatWasThereBefore) {
  reply_to({whole("hi")});
  EXPECT_EQ(reply_to({broken(Broken::kAddress), whole("again")}).text, "again");
}

TEST_F(HttpProviderTest, RetriesMalformedRepliesAndErrorsInsideA200) {
  const Reply reply = reply_to({{200, {}, {"<html>"}},
                                {200, {}, {"[1]"}},
                                streamed({"data: {\"error\":{\"message\":\"inside\",\"code\":500}}\n\n"}),
                                whole("hi")});
  EXPECT_EQ(reply.text, "hi");
  EXPECT_THAT(reply.attempts[0].problem, HasSubstr("not the JSON"));
  EXPECT_THAT(reply.attempts[2].problem, HasSubstr("inside"));
  EXPECT_EQ(error_of({{200, {}, {"<"}}, {200, {}, {"<"}}, {200, {}, {"<"}}, {200, {}, {"<"}}}).code, Code::kParse);
}

TEST_F(HttpProviderTest, FlagsCutAndRefusedReplies) {
  EXPECT_TRUE(reply_to({whole("half", "length")}).truncated);
  EXPECT_TRUE(reply_to({whole("", "content_filter")}).refused);
  EXPECT_EQ(reply_to({whole("")}).text, "");
}

TEST_F(HttpProviderTest, NeverLetsTheKeyOut) {
  const std::string echo = std::string(R"({"error":{"message":"your key )") + kKey + R"( is bad"}})";
  EXPECT_THAT(error_of({failed(400, echo)}).message, HasSubstr("[key]"));
  const Reply reply = reply_to({failed(500, echo), whole(std::string("your key: ") + kKey)});
  EXPECT_EQ(reply.text, "your key: [key]");
  EXPECT_THAT(reply.attempts[0].problem, Not(HasSubstr(kKey)));
  for (const std::string& line : progress.lines) EXPECT_THAT(line, Not(HasSubstr(kKey)));
  EXPECT_THAT(net->requests[0].url + net->requests[0].body, Not(HasSubstr(kKey)));
}

TEST_F(HttpProviderTest, StopsAtTheDeadline) {
  request.deadline_s = 5;
  const Error error = error_of({failed(429, "{}", {{"retry-after", "9"}}), whole("never")});
  EXPECT_EQ(error.code, Code::kTimeout);
  EXPECT_EQ(clock->slept, 0);
  EXPECT_EQ(net->requests[0].deadline_s, 5);
}

TEST_F(HttpProviderTest, StopsWhenCancelled) {
  progress.stop = true;
  EXPECT_EQ(error_of({whole("x")}).code, Code::kCancelled);
}

TEST_F(HttpProviderTest, IsCancelledWhileWaiting) {
  clock->on_sleep = [&] { progress.stop = true; };
  EXPECT_EQ(error_of({failed(429, "{}", {{"retry-after", "60"}}), whole("never")}).code, Code::kCancelled);
  EXPECT_LE(clock->slept, 1.0);
}

TEST_F(HttpProviderTest, RefusesWrongRequestsBeforeSending) {
  const std::vector<std::function<void(Request&)>> wrongs = {
      [](Request& r) { r.extra = "[1]"; },
      [](Request& r) { r.extra = "{"; },
      [](Request& r) { r.extra = R"({"messages":[]})"; },
      [](Request& r) { r.extra = R"({"model":"other"})"; },
      [](Request& r) { r.temperature = -1; },
      [](Request& r) { r.max_output_tokens = 0; },
      [](Request& r) { r.deadline_s = 0; },
      [](Request& r) { r.sample = 0; },
  };
  for (const auto& wrong : wrongs) {
    request = ask_for("p");
    wrong(request);
    EXPECT_EQ(error_of({whole("never")}).code, Code::kUsage);
  }
  EXPECT_TRUE(net->requests.empty());
}

TEST_F(HttpProviderTest, BearsBytesThatAreNoUtf8InThePrompt) {
  request.prompt = "a\xff\xfe b";
  EXPECT_EQ(reply_to({whole("hi")}).text, "hi");
}

TEST_F(HttpProviderTest, ChecksKeyModelAndHostWithoutARequestForText) {
  const struct {
    Canned answer;
    std::optional<Code> code;
  } rows[] = {
      {failed(200), std::nullopt},
      {failed(401), Code::kAuth},
      {failed(400), Code::kAuth},
      {failed(404), Code::kUsage},
      {failed(429), std::nullopt},
      {failed(500), std::nullopt},
      {broken(Broken::kAddress), Code::kTransport},
      {broken(Broken::kTls), Code::kTransport},
  };
  for (const auto& row : rows) {
    make(kKey);
    net->canned = {row.answer};
    const Status status = provider->check();
    EXPECT_EQ(status.ok(), !row.code);
    if (row.code && !status) {
      EXPECT_EQ(status.error().code, *row.code);
    }
    ASSERT_EQ(net->requests.size(), 1u);
    EXPECT_EQ(net->requests[0].method, "GET");
    EXPECT_EQ(net->requests[0].url, "https://host/v1/models/gpt-x");
  }
}

TEST_F(HttpProviderTest, SaysWhichVariableToSetWithoutAKey) {
  make("");
  EXPECT_THAT(error_of({failed(401)}).message, HasSubstr("it wants a key; set OPENAI_API_KEY"));
}

}  // namespace
}  // namespace kagent::llm
