// The real transport and the whole of each provider against a server on this machine that has its bad days.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "agent/llm/curl_transport.h"
#include "agent/llm/make_provider.h"
#include "fakes.h"
#include "tests/fake_server/fake_server.h"

namespace kagent::llm {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kHello = "Hello from the fake server: na\xC3\xAFve caf\xC3\xA9, line one\nline two";

// Real time where the network is concerned, none between attempts.
class ImpatientClock : public FakeClock {
 public:
  double unix_s() override { return real->unix_s(); }
  std::shared_ptr<Clock> real = real_clock();
};

class Curl : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { server = new FakeServer; }
  static void TearDownTestSuite() {
    delete server;
    server = nullptr;
  }
  void SetUp() override {
    if (server->address().empty()) GTEST_SKIP() << "python3 is not here: no fake server";
    ::setenv("KAGENT_FAKE_KEY", FakeServer::kKey, 1);
    settings.base_url = server->address();
    settings.api_key_env = "KAGENT_FAKE_KEY";
    settings.clock = clock;
    settings.retry.most_attempts = 3;
    request.idle_timeout_s = 5;
    request.connect_timeout_s = 5;
    get("POST", "/_reset");
  }

  std::string get(const std::string& method, const std::string& path) {
    HttpRequest http;
    http.method = method;
    http.url = server->address() + path;
    std::string body;
    curl_transport()->send(http, [&](const HttpHead&, std::string_view piece) { return body.append(piece), true; }, {});
    return body;
  }

  Result<Answer> ask(const std::string& model) {
    auto provider = make_provider(std::string(GetParam()) + ":" + model, settings);
    if (!provider) return provider.error();
    return provider.value()->complete(request, progress);
  }
  Reply reply_of(const std::string& model) {
    Result<Answer> answer = ask(model);
    if (answer) return std::get<Reply>(std::move(answer).value());
    ADD_FAILURE() << model << ": " << answer.error().message;
    return {};
  }
  Error error_of(const std::string& model) {
    Result<Answer> answer = ask(model);
    EXPECT_FALSE(answer.ok()) << model;
    if (answer) return {};
    EXPECT_THAT(answer.error().message, Not(HasSubstr(FakeServer::kKey)));
    return answer.error();
  }

  static inline FakeServer* server = nullptr;
  std::shared_ptr<ImpatientClock> clock = std::make_shared<ImpatientClock>();
  ProviderSettings settings;
  Request request = ask_for("hi");
  Recorder progress;
};

TEST_P(Curl, AnswersStreamedAndWhole) {
  for (const bool stream : {true, false}) {
    request.stream = stream;
    const Reply reply = reply_of("ok");
    EXPECT_EQ(reply.text, kHello) << stream;
    EXPECT_EQ(reply.model, "ok-2026");
    EXPECT_EQ(reply.usage.input_tokens, 11);
    EXPECT_EQ(reply.usage.cached_tokens, 4);
    EXPECT_GT(reply.usage.output_tokens.value_or(0), 0);
    EXPECT_FALSE(reply.truncated || reply.refused);
    EXPECT_THAT(reply.request_id, HasSubstr("req-"));
    EXPECT_THAT(reply.request + reply.raw, Not(HasSubstr(FakeServer::kKey)));
  }
}

TEST_P(Curl, ReadsAStreamThatTricklesByteByByte) { EXPECT_EQ(reply_of("trickle").text, kHello); }

TEST_P(Curl, CarriesALongPromptBothWays) {
  for (int i = 0; i < 20000; ++i) request.prompt += "kernel \xE2\x82\xAC ";
  request.prompt = "echo: " + request.prompt;
  EXPECT_EQ(reply_of("ok").text, request.prompt.substr(6));
}

TEST_P(Curl, RetriesABadDay) {
  for (const char* model : {"limit-once", "limit-date-once", "broken-once", "overloaded-once", "cut-once",
                            "malformed-once", "inside-once"}) {
    const Reply reply = reply_of(model);
    EXPECT_EQ(reply.text, kHello) << model;
    ASSERT_EQ(reply.attempts.size(), 2u) << model;
    EXPECT_NE(reply.attempts[0].problem, "") << model;
  }
}

TEST_P(Curl, WaitsAsLongAsTheServerAsks) {
  EXPECT_GE(reply_of("limit-once").attempts[0].wait_s, 1);
  clock->chance = 0;
  const double dated = reply_of("limit-date-once").attempts[0].wait_s;
  EXPECT_GE(dated, 0.5);
  EXPECT_LE(dated, 2);
}

TEST_P(Curl, RetriesCutRepliesWholeOrStreamed) {
  request.stream = false;
  EXPECT_EQ(reply_of("cut-once").text, kHello);
  EXPECT_THAT(error_of("unended-x").message, HasSubstr("no model"));
  request.stream = true;
  EXPECT_THAT(error_of("unended").message, HasSubstr("broke off"));
}

TEST_P(Curl, GivesUpOnAServerThatStaysBroken) {
  EXPECT_EQ(error_of("broken").code, Code::kTransport);
  EXPECT_EQ(progress.attempts.size(), 3u);
  EXPECT_EQ(error_of("malformed").code, Code::kParse);
  EXPECT_EQ(error_of("limit").code, Code::kBusy);
  EXPECT_EQ(error_of("limit-long").code, Code::kBusy);
}

TEST_P(Curl, NoticesSilence) {
  settings.retry.most_attempts = 1;
  request.idle_timeout_s = 1;
  EXPECT_EQ(error_of("slow").code, Code::kTimeout);
  EXPECT_EQ(error_of("silent").code, Code::kTimeout);
  request.idle_timeout_s = 60;
  request.deadline_s = 0.5;
  EXPECT_EQ(error_of("silent").code, Code::kTimeout);
}

TEST_P(Curl, SaysAtOnceWhatIsWrong) {
  EXPECT_EQ(error_of("no-such-model").code, Code::kUsage);
  EXPECT_EQ(error_of("bad").code, Code::kUsage);
  EXPECT_THAT(error_of("redirect").message, HasSubstr("elsewhere"));
  EXPECT_EQ(error_of("echo-key").code, Code::kUsage);
  ::setenv("KAGENT_FAKE_KEY", "wrong-key-0123456789", 1);
  const Error wrong_key = error_of("ok");
  EXPECT_EQ(wrong_key.code, Code::kAuth);
  EXPECT_THAT(wrong_key.message, HasSubstr("KAGENT_FAKE_KEY"));
  EXPECT_THAT(wrong_key.message, Not(HasSubstr("wrong-key")));
  for (const Attempt& attempt : progress.attempts) EXPECT_EQ(attempt.number, 1);
}

TEST_P(Curl, ChecksTheKeyAndTheHost) {
  const std::string model = std::string(GetParam()) + ":ok";
  EXPECT_TRUE(make_provider(model, settings).value()->check().ok());
  ::setenv("KAGENT_FAKE_KEY", "wrong-key-0123456789", 1);
  EXPECT_EQ(make_provider(model, settings).value()->check().error().code, Code::kAuth);
  settings.base_url = "http://127.0.0.1:9";
  EXPECT_EQ(make_provider(model, settings).value()->check().error().code, Code::kTransport);
  settings.base_url = "http://no-such-host.invalid";
  EXPECT_EQ(make_provider(model, settings).value()->check().error().code, Code::kTransport);
  EXPECT_EQ(error_of("ok").code, Code::kTransport);
  EXPECT_EQ(progress.attempts.size(), 1u);
}

TEST_P(Curl, FlagsRepliesThatWereCutOrRefused) {
  EXPECT_TRUE(reply_of("length").truncated);
  EXPECT_TRUE(reply_of("refuse").refused);
  EXPECT_EQ(reply_of("empty").text, "");
}

TEST_P(Curl, SendsWhatWasAskedFor) {
  request.temperature = 0.5;
  request.max_output_tokens = 30000;
  request.reasoning_effort = "low";
  request.extra = R"({"seed":7})";
  reply_of("ok");
  const auto seen = nlohmann::json::parse(get("GET", "/_requests")).back();
  EXPECT_EQ(seen["body"]["seed"], 7);
  EXPECT_THAT(seen.dump(), HasSubstr("30000"));
  EXPECT_THAT(seen.dump(), HasSubstr("0.5"));
}

TEST_P(Curl, IsCancelledInTheMiddle) {
  progress.stop = true;
  const double begin_s = clock->real->now_s();
  EXPECT_EQ(error_of("slow").code, Code::kCancelled);
  EXPECT_LT(clock->real->now_s() - begin_s, 4);
}

TEST_P(Curl, StopsAServerThatSendsWithoutEnd) {
  HttpRequest http;
  http.url = server->address() + "/v1/chat/completions";
  http.headers = {{"Authorization", std::string("Bearer ") + FakeServer::kKey}};
  http.body = R"({"model":"huge","stream":true,"messages":[{"content":"x"}]})";
  http.most_bytes = 1 << 20;
  std::size_t got = 0;
  const HttpResponse response = curl_transport()->send(
      http, [&](const HttpHead&, std::string_view piece) { return got += piece.size(), true; }, {});
  EXPECT_EQ(response.broken, Broken::kTooLarge);
  EXPECT_LE(got, std::size_t{1} << 20);
}

TEST(CurlTls, RefusesACertificateThatNobodyTrusts) {
  const std::string folder = testing::TempDir();
  const std::string pem = folder + "kagent_self_signed.pem";
  const std::string make =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
      "/CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout " +
      pem + ".key -out " + pem + " 2>/dev/null && cat " + pem + ".key >> " + pem;
  if (std::system(make.c_str()) != 0) GTEST_SKIP() << "openssl is not here: no certificate to distrust";
  const FakeServer server({"--tls", pem});
  ASSERT_NE(server.address(), "");
  ::setenv("KAGENT_FAKE_KEY", FakeServer::kKey, 1);
  ProviderSettings settings;
  settings.base_url = server.address();
  settings.api_key_env = "KAGENT_FAKE_KEY";
  Progress quiet;
  const auto answer = make_provider("openai:ok", settings).value()->complete(ask_for("hi"), quiet);
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("certificate"));
  EXPECT_THAT(answer.error().message, Not(HasSubstr("after")));  // at once
}

std::string dialect_name(const testing::TestParamInfo<const char*>& tested) { return tested.param; }
INSTANTIATE_TEST_SUITE_P(Dialects, Curl, testing::Values("openai", "anthropic", "gemini"), dialect_name);

}  // namespace
}  // namespace kagent::llm
