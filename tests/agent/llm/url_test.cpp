#include "agent/llm/url.h"

#include <gtest/gtest.h>

namespace kagent::llm {
namespace {

struct Case {
  const char* given;
  const char* version;
  const char* base;
};

TEST(Url, TakesBaseUrlsInAllTheirForms) {
  const Case cases[] = {
      {"https://api.openai.com", "v1", "https://api.openai.com/v1"},
      {"https://api.openai.com/", "v1", "https://api.openai.com/v1"},
      {"https://api.openai.com/v1", "v1", "https://api.openai.com/v1"},
      {"https://api.openai.com/v1//", "v1", "https://api.openai.com/v1"},
      {"http://localhost:8000/v1/chat/completions", "v1", "http://localhost:8000/v1"},
      {"http://host/no/version/chat/completions/", "v1", "http://host/no/version"},
      {"https://openrouter.ai/api", "v1", "https://openrouter.ai/api/v1"},
      {"https://x.y/api/paas/v4/", "v1", "https://x.y/api/paas/v4"},
      {"https://generativelanguage.googleapis.com/v1beta/openai/", "v1",
       "https://generativelanguage.googleapis.com/v1beta/openai"},
      {"https://generativelanguage.googleapis.com", "v1beta", "https://generativelanguage.googleapis.com/v1beta"},
      {"http://[::1]:11434", "v1", "http://[::1]:11434/v1"},
      {"https://vllm.example/vision", "v1", "https://vllm.example/vision/v1"},  // "vision" is no version
      {"https://api.anthropic.com/v1/messages", "v1", "https://api.anthropic.com/v1"},
  };
  for (const Case& c : cases) {
    const auto base = base_of(c.given, c.version);
    ASSERT_TRUE(base.ok()) << c.given;
    EXPECT_EQ(base.value(), c.base) << c.given;
  }
}

TEST(Url, RefusesWhatWouldNotWorkWithAReason) {
  for (const char* bad : {"", "localhost:8000", "ftp://host", "https://", "https:///v1", "http://a b",
                          "https://h/?key=1", "https://h/#x", "https://user:hunter22@host/v1"}) {
    const auto base = base_of(bad, "v1");
    ASSERT_FALSE(base.ok()) << bad;
    EXPECT_EQ(base.error().code, Code::kUsage);
    EXPECT_EQ(base.error().message.find("hunter22"), std::string::npos);
  }
}

TEST(Url, KnowsThisMachine) {
  for (const char* here :
       {"http://localhost/v1", "http://localhost:80", "http://127.0.0.1:8000/v1", "http://[::1]:1/v1"})
    EXPECT_TRUE(is_loopback(here)) << here;
  for (const char* there :
       {"http://127.evil.example/", "http://localhost.example", "http://10.0.0.1:80", "https://[::2]/"})
    EXPECT_FALSE(is_loopback(there)) << there;
  EXPECT_EQ(origin_of("https://host:1/v1/x"), "https://host:1");
}

}  // namespace
}  // namespace kagent::llm
