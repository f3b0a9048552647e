// Builders and parsers, row by row. Replies are written after each provider's own documentation.
#include "agent/llm/dialect.h"

#include <gtest/gtest.h>

namespace kagent::llm {
namespace {

using nlohmann::json;

struct Build {
  const char* what;
  const Dialect* dialect;
  Target target;
  Request request;
  const char* body;
};

Request request(std::optional<double> temperature, std::optional<int> limit, std::optional<std::string> effort,
                bool stream) {
  Request r;
  r.prompt = "p";
  r.temperature = temperature;
  r.max_output_tokens = limit;
  r.reasoning_effort = std::move(effort);
  r.stream = stream;
  return r;
}

TEST(Dialect, BuildsRequests) {
  const Build rows[] = {
      {"openai, nothing asked",
       &openai(),
       {"m", true, ""},
       request({}, {}, {}, false),
       R"({"model":"m","messages":[{"role":"user","content":"p"}]})"},
      {"openai, everything",
       &openai(),
       {"m", true, ""},
       request(0.5, 100, "high", true),
       R"({"model":"m","messages":[{"role":"user","content":"p"}],"temperature":0.5,"max_completion_tokens":100,
           "reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}})"},
      {"openai, another server",
       &openai(),
       {"m", false, ""},
       request({}, 100, {}, false),
       R"({"model":"m","messages":[{"role":"user","content":"p"}],"max_tokens":100})"},
      {"openai, field by setting",
       &openai(),
       {"m", false, "max_completion_tokens"},
       request({}, 100, {}, false),
       R"({"model":"m","messages":[{"role":"user","content":"p"}],"max_completion_tokens":100})"},
      {"anthropic, nothing asked",
       &anthropic(),
       {"m", true, ""},
       request({}, {}, {}, false),
       R"({"model":"m","max_tokens":32000,"messages":[{"role":"user","content":"p"}]})"},
      {"anthropic, everything",
       &anthropic(),
       {"m", true, ""},
       request(1, 20000, "medium", true),
       R"({"model":"m","max_tokens":20000,"messages":[{"role":"user","content":"p"}],"temperature":1.0,"stream":true,
           "thinking":{"type":"enabled","budget_tokens":8192}})"},
      {"anthropic, no thinking",
       &anthropic(),
       {"m", true, ""},
       request({}, {}, "none", false),
       R"({"model":"m","max_tokens":32000,"messages":[{"role":"user","content":"p"}]})"},
      {"gemini, nothing asked",
       &gemini(),
       {"gemini-3-x", true, ""},
       request({}, {}, {}, true),
       R"({"contents":[{"role":"user","parts":[{"text":"p"}]}]})"},
      {"gemini 2, everything",
       &gemini(),
       {"gemini-2.5-x", true, ""},
       request(0.0, 9, "high", true),
       R"({"contents":[{"role":"user","parts":[{"text":"p"}]}],"generationConfig":{"temperature":0.0,
           "maxOutputTokens":9,"thinkingConfig":{"thinkingBudget":16384}}})"},
      {"gemini 3, level",
       &gemini(),
       {"gemini-3-x", true, ""},
       request({}, {}, "low", true),
       R"({"contents":[{"role":"user","parts":[{"text":"p"}]}],"generationConfig":{"thinkingConfig":{"thinkingLevel":"low"}}})"},
      {"gemini 3, budget",
       &gemini(),
       {"gemini-3-x", true, ""},
       request({}, {}, "512", true),
       R"({"contents":[{"role":"user","parts":[{"text":"p"}]}],"generationConfig":{"thinkingConfig":{"thinkingBudget":512}}})"},
  };
  for (const Build& row : rows) {
    const auto body = row.dialect->body(row.target, row.request);
    ASSERT_TRUE(body.ok()) << row.what << body.error().message;
    EXPECT_EQ(body.value(), json::parse(row.body)) << row.what;
  }
}

TEST(Dialect, RefusesEffortsThatCannotBe) {
  const Target target{"gemini-2.5-x", true, ""};
  EXPECT_EQ(anthropic().body(target, request({}, {}, "very", false)).error().code, Code::kUsage);
  EXPECT_EQ(anthropic().body(target, request({}, 4096, "high", false)).error().code, Code::kUsage);
  EXPECT_EQ(anthropic().body(target, request({}, {}, "-5", false)).error().code, Code::kUsage);
  EXPECT_EQ(gemini().body(target, request({}, {}, "very", false)).error().code, Code::kUsage);
}

TEST(Dialect, PutsPathsTogether) {
  EXPECT_EQ(openai().path({"m", true, ""}, true), "chat/completions");
  EXPECT_EQ(anthropic().path({"m", true, ""}, true), "messages");
  EXPECT_EQ(gemini().path({"gemini-x", true, ""}, false), "models/gemini-x:generateContent");
  EXPECT_EQ(gemini().path({"gemini-x", true, ""}, true), "models/gemini-x:streamGenerateContent?alt=sse");
  EXPECT_EQ(gemini().path({"tunedModels/a b?c", true, ""}, false), "tunedModels/a%20b%3Fc:generateContent");
}

TEST(Dialect, SendsKeysInHeadersOnlyWhenThereIsOne) {
  EXPECT_EQ(openai().headers("k"), (Headers{{"Authorization", "Bearer k"}}));
  EXPECT_EQ(anthropic().headers("k"), (Headers{{"anthropic-version", "2023-06-01"}, {"x-api-key", "k"}}));
  EXPECT_EQ(gemini().headers("k"), (Headers{{"x-goog-api-key", "k"}}));
  EXPECT_TRUE(openai().headers("").empty());
}

struct Parse {
  const char* what;
  const Dialect* dialect;
  std::vector<const char*> events;  // one: a whole reply
  bool streamed;
  const char* text;
  const char* finish;
  bool ended, truncated, refused;
  std::vector<std::optional<std::int64_t>> usage;  // input, output, reasoning, cached
  const char* model = "m-1";
};

const Parse kReplies[] = {
    {"openai whole",
     &openai(),
     {R"({"id":"i","model":"m-1","choices":[{"message":{"content":"hi","reasoning_content":"hm"},"finish_reason":"stop"}],
          "usage":{"prompt_tokens":5,"completion_tokens":7,"completion_tokens_details":{"reasoning_tokens":3},
          "prompt_tokens_details":{"cached_tokens":2}}})"},
     false,
     "hi",
     "stop",
     true,
     false,
     false,
     {5, 7, 3, 2}},
    {"openai streamed, usage with empty choices",
     &openai(),
     {R"({"model":"m-1","choices":[{"delta":{"role":"assistant","content":null}}]})",
      R"({"choices":[{"delta":{"content":"h"}}]})", R"({"choices":[{"delta":{"content":"i"},"finish_reason":null}]})",
      R"({"choices":[{"delta":{},"finish_reason":"length"}]})",
      R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}})", "[DONE]"},
     true,
     "hi",
     "length",
     true,
     true,
     false,
     {5, 7, {}, {}}},
    {"openai refusal",
     &openai(),
     {R"({"model":"m-1","choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}]})"},
     false,
     "",
     "stop",
     true,
     false,
     true,
     {{}, {}, {}, {}}},
    {"openai without finish reason",
     &openai(),
     {R"({"model":"m-1","choices":[{"message":{"content":"hi"}}]})"},
     false,
     "hi",
     "",
     false,
     false,
     false,
     {{}, {}, {}, {}}},
    {"anthropic whole",
     &anthropic(),
     {R"({"id":"i","model":"m-1","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"h"},
          {"type":"text","text":"i"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"cache_read_input_tokens":2,
          "cache_creation_input_tokens":10,"output_tokens":7}})"},
     false,
     "hi",
     "end_turn",
     true,
     false,
     false,
     {15, 7, {}, 2}},
    {"anthropic streamed",
     &anthropic(),
     {R"({"type":"message_start","message":{"id":"i","model":"m-1","usage":{"input_tokens":3,"output_tokens":1}}})",
      R"({"type":"ping"})", R"({"type":"content_block_start","content_block":{"type":"text","text":""}})",
      R"({"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}})",
      R"({"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}})", R"({"type":"new_kind"})",
      R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":7}})",
      R"({"type":"message_stop"})"},
     true,
     "hi",
     "max_tokens",
     true,
     true,
     false,
     {3, 7, {}, 0}},
    {"gemini whole",
     &gemini(),
     {R"({"responseId":"i","modelVersion":"m-1","candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"hi"}]},
          "finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":7,"thoughtsTokenCount":3,
          "cachedContentTokenCount":2}})"},
     false,
     "hi",
     "STOP",
     true,
     false,
     false,
     {5, 10, 3, 2}},
    {"gemini streamed",
     &gemini(),
     {R"({"modelVersion":"m-1","candidates":[{"content":{"parts":[{"text":"h"}]}}],"usageMetadata":{"promptTokenCount":5}})",
      R"({"candidates":[{"content":{"parts":[{"text":"i"}]},"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2}})"},
     true,
     "hi",
     "MAX_TOKENS",
     true,
     true,
     false,
     {5, 2, {}, {}}},
    {"gemini blocked prompt",
     &gemini(),
     {R"({"modelVersion":"m-1","promptFeedback":{"blockReason":"SAFETY"}})"},
     false,
     "",
     "SAFETY",
     true,
     false,
     true,
     {{}, {}, {}, {}}},
    {"hostile types",
     &openai(),
     {R"({"model":7,"id":[],"choices":[{"message":{"content":{"a":1}},"finish_reason":5}],"usage":{"prompt_tokens":-4,
          "completion_tokens":1e99,"prompt_tokens_details":[1],"completion_tokens_details":{"reasoning_tokens":99999999999999999999}}})"},
     false,
     "",
     "",
     false,
     false,
     false,
     {{}, {}, {}, {}},
     ""},
};

TEST(Dialect, ReadsReplies) {
  for (const Parse& row : kReplies) {
    SCOPED_TRACE(row.what);
    Partial partial;
    for (const char* event : row.events) {
      if (row.streamed)
        row.dialect->read_event(event, partial);
      else
        row.dialect->read_whole(read_json(event), partial);
    }
    EXPECT_EQ(partial.text, row.text);
    EXPECT_EQ(partial.model, row.model);
    EXPECT_EQ(partial.finish_reason, row.finish);
    EXPECT_EQ(partial.ended, row.ended);
    EXPECT_EQ(partial.truncated, row.truncated);
    EXPECT_EQ(partial.refused, row.refused);
    EXPECT_EQ(partial.usage.input_tokens, row.usage[0]);
    EXPECT_EQ(partial.usage.output_tokens, row.usage[1]);
    EXPECT_EQ(partial.usage.reasoning_tokens, row.usage[2]);
    EXPECT_EQ(partial.usage.cached_tokens, row.usage[3]);
    EXPECT_EQ(partial.error, "");
    EXPECT_FALSE(partial.malformed);
    EXPECT_EQ(partial.metadata.dump().find("hi\""), std::string::npos);  // metadata holds no text
  }
}

TEST(Dialect, TellsPassingErrorsFromFinalOnesInsideAStream) {
  const struct {
    const Dialect* dialect;
    const char* event;
    bool final;
  } rows[] = {
      {&openai(), R"({"error":{"message":"boo","code":500}})", false},
      {&openai(), R"({"error":{"message":"boo","code":400}})", true},
      {&openai(), R"({"error":{"message":"boo","type":"server_error"}})", false},
      {&openai(), R"({"error":"boo"})", false},
      {&anthropic(), R"({"type":"error","error":{"type":"overloaded_error","message":"boo"}})", false},
      {&anthropic(), R"({"type":"error","error":{"type":"invalid_request_error","message":"boo"}})", true},
      {&gemini(), R"({"error":{"code":503,"message":"boo"}})", false},
      {&gemini(), R"({"error":{"code":400,"message":"boo"}})", true},
  };
  for (const auto& row : rows) {
    Partial partial;
    row.dialect->read_event(row.event, partial);
    EXPECT_EQ(partial.error, "boo") << row.event;
    EXPECT_EQ(partial.error_is_final, row.final) << row.event;
  }
}

TEST(Dialect, MarksWhatIsNoJson) {
  for (const Dialect* dialect : dialects()) {
    for (const char* event : {"{\"a\":", "[]", "7", "", "{}}", "\xff"}) {
      Partial partial;
      dialect->read_event(event, partial);
      EXPECT_TRUE(partial.malformed) << dialect->name << event;
    }
  }
}

TEST(Dialect, FindsTheMessageInErrorBodies) {
  for (const char* body : {R"({"error":{"message":"boo"}})", R"({"error":"boo"})", R"({"message":"boo"})",
                           R"({"detail":"boo"})", R"([{"error":{"message":"boo"}}])", "boo"})
    EXPECT_EQ(error_message(body), "boo") << body;
  EXPECT_EQ(error_message(std::string(100000, 'x')).size(), 1000u);
}

TEST(Dialect, BearsDeepNesting) {
  EXPECT_TRUE(read_json(std::string(1000000, '[') + std::string(1000000, ']')).is_null());
  EXPECT_TRUE(read_json(std::string(50, '[') + std::string(50, ']')).is_array());
}

}  // namespace
}  // namespace kagent::llm
