// llm_client MODEL BASE_URL PROMPT [--whole] [--check]: one request by the real client, the outcome as JSON on stdout.
// The key comes from KAGENT_CLIENT_KEY. For tests against servers that nobody here wrote (litellm_test.py).
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/llm/make_provider.h"

namespace {

using nlohmann::json;
using namespace kagent::llm;

json outcome(const std::string& model, const std::string& base_url, const std::string& prompt, bool stream,
             bool check) {
  ProviderSettings settings;
  settings.base_url = base_url;
  settings.api_key_env = "KAGENT_CLIENT_KEY";
  settings.retry.most_attempts = 2;
  const auto failed = [](const kagent::Error& error) {
    return json{{"error", error.message}, {"code", static_cast<int>(error.code)}};
  };
  const auto provider = make_provider(model, settings);
  if (!provider) return failed(provider.error());
  if (const kagent::Status checked = provider.value()->check(); check && !checked) return failed(checked.error());
  Request request;
  request.prompt = prompt;
  request.stream = stream;
  request.idle_timeout_s = 60;
  request.max_output_tokens = 1000;
  Progress quiet;
  const auto answer = provider.value()->complete(request, quiet);
  if (!answer) return failed(answer.error());
  const auto& reply = std::get<Reply>(answer.value());
  return {{"text", reply.text},
          {"model", reply.model},
          {"finish_reason", reply.finish_reason},
          {"input_tokens", reply.usage.input_tokens.value_or(-1)},
          {"output_tokens", reply.usage.output_tokens.value_or(-1)},
          {"request", reply.request},
          {"raw", reply.raw},
          {"attempts", reply.attempts.size()}};
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) {
    std::fputs("usage: llm_client MODEL BASE_URL PROMPT [--whole] [--check]\n", stderr);
    return 2;
  }
  bool stream = true, check = false;
  for (int i = 4; i < count; ++i) {
    stream = stream && std::string(words[i]) != "--whole";
    check = check || std::string(words[i]) == "--check";
  }
  const json result = outcome(words[1], words[2], words[3], stream, check);
  std::puts(result.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
  return result.contains("error") ? 1 : 0;
}
