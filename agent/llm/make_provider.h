// From what stands after --model to a provider.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/llm/clock.h"
#include "agent/llm/http_transport.h"
#include "agent/llm/provider.h"
#include "agent/llm/replay_provider.h"
#include "agent/llm/retry.h"

namespace kagent::llm {

struct ProviderSettings {
  std::string base_url;           // another server that speaks the dialect; empty: the dialect's own
  std::string api_key_env;        // variable that holds the key; empty: the dialect's own (OPENAI_API_KEY, ...)
  std::string token_limit_field;  // openai: "max_tokens" or "max_completion_tokens"; empty: by host
  bool spool_wait = true;         // --no-wait: false
  double spool_poll_s = 1;
  RetryPolicy retry;

  // Opens a recorded run for replay:; agent/command gives agent/run's.
  std::function<Result<std::unique_ptr<RecordedReplies>>(const std::string& run)> open_recorded;

  // For tests; empty: libcurl and the real clock.
  std::function<std::unique_ptr<HttpTransport>()> transport;
  std::shared_ptr<Clock> clock;
};

// `model`: "openai:gpt-x", "anthropic:claude-x", "gemini:gemini-x", "replay:runs/demo", "spool:folder" (also
// "spool:folder,no-wait"). Takes every key it may need out of the environment (secret.h).
// Errors: kUsage (unknown provider: the nearest is named; no model; a wrong base URL), kAuth (no key for the provider's
// own host), and what opening a recorded run says.
Result<std::unique_ptr<Provider>> make_provider(const std::string& model, const ProviderSettings& settings);

}  // namespace kagent::llm
