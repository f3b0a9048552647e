#include "agent/llm/make_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "fakes.h"

namespace kagent::llm {
namespace {

using testing::HasSubstr;

class MakeProvider : public testing::Test {
 protected:
  MakeProvider() {
    settings.clock = std::make_shared<FakeClock>();
    settings.transport = [this] {
      auto transport = std::make_unique<FakeTransport>();
      net = transport.get();
      return transport;
    };
  }
  Error error_of(const std::string& model) {
    auto made = make_provider(model, settings);
    EXPECT_FALSE(made.ok()) << model;
    return made ? Error{} : made.error();
  }
  // What check() sends.
  HttpRequest request_of(const std::string& model) {
    auto made = make_provider(model, settings);
    if (!made) {
      ADD_FAILURE() << made.error().message;
      return {};
    }
    (void)made.value()->check();
    return net->requests.at(0);
  }
  Headers headers_of(const std::string& model) { return request_of(model).headers; }

  ProviderSettings settings;
  FakeTransport* net = nullptr;
};

TEST_F(MakeProvider, NamesTheNearestRightOne) {
  EXPECT_THAT(error_of("opnai:gpt-x").message, HasSubstr("did you mean \"openai\""));
  EXPECT_THAT(error_of("Anthropic:x").message, HasSubstr("did you mean \"anthropic\""));
  EXPECT_THAT(error_of("zzz:x").message, HasSubstr("openai, anthropic, gemini, replay or spool"));
  EXPECT_THAT(error_of("gpt-x").message, HasSubstr("lacks its provider"));
  EXPECT_EQ(error_of("openai:").code, Code::kUsage);
  EXPECT_EQ(error_of("openai:a\nb").code, Code::kUsage);
  EXPECT_EQ(error_of("").code, Code::kUsage);
}

TEST_F(MakeProvider, SaysWhichKeyIsMissing) {
  settings.api_key_env = "KAGENT_TEST_UNSET";
  const Error error = error_of("openai:gpt-x");
  EXPECT_EQ(error.code, Code::kAuth);
  EXPECT_THAT(error.message, HasSubstr("KAGENT_TEST_UNSET is not set"));
}

TEST_F(MakeProvider, NeedsNoKeyForAServerOfOnesOwn) {
  settings.base_url = "http://localhost:8000";
  const HttpRequest request = request_of("openai:local");
  EXPECT_TRUE(request.headers.empty());
  EXPECT_EQ(request.url, "http://localhost:8000/v1/models");
}

TEST_F(MakeProvider, SendsAProvidersKeyOverPlainHttpOnlyWhenTold) {
  ::setenv("GEMINI_API_KEY", "gemini-key-0123456789", 1);
  settings.base_url = "http://gpu-node:8000";
  EXPECT_TRUE(headers_of("gemini:g").empty());
  settings.base_url = "https://gpu-node:8000";
  EXPECT_EQ(headers_of("gemini:g").size(), 1u);
  EXPECT_EQ(std::getenv("GEMINI_API_KEY"), nullptr);  // taken away from children
  ::setenv("KAGENT_TEST_NODE_KEY", "node-key-0123456789", 1);
  settings.base_url = "http://gpu-node:8000";
  settings.api_key_env = "KAGENT_TEST_NODE_KEY";
  EXPECT_EQ(headers_of("gemini:g"), (Headers{{"x-goog-api-key", "node-key-0123456789"}}));
}

TEST_F(MakeProvider, RefusesAWrongBaseUrlAndField) {
  settings.base_url = "localhost:8000";
  EXPECT_THAT(error_of("openai:x").message, HasSubstr("http://"));
  settings.base_url = "http://localhost:8000";
  settings.token_limit_field = "tokens";
  EXPECT_EQ(error_of("openai:x").code, Code::kUsage);
}

TEST_F(MakeProvider, OpensRecordedRunsThroughTheCaller) {
  std::string asked;
  settings.open_recorded = [&](const std::string& run) -> Result<std::unique_ptr<RecordedReplies>> {
    asked = run;
    return Error{Code::kNotFound, "no run"};
  };
  EXPECT_EQ(error_of("replay:runs/demo").code, Code::kNotFound);
  EXPECT_EQ(asked, "runs/demo");
}

TEST_F(MakeProvider, NamesProvidersAsGiven) {
  EXPECT_EQ(make_provider("spool:some/folder/,no-wait", settings).value()->name(), "spool:some/folder");
  settings.base_url = "http://localhost:1";
  EXPECT_EQ(make_provider("openai:org/model:free", settings).value()->name(), "openai:org/model:free");
}

}  // namespace
}  // namespace kagent::llm
