// Options of everything that asks a language model: how it is asked, and by which server.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "agent/llm/make_provider.h"
#include "agent/llm/provider.h"

namespace kagent {

struct RequestOptions {
  std::optional<double> temperature;
  std::optional<int> max_tokens;
  std::optional<std::string> effort;
  std::string extra;
  bool no_stream = false;
  bool no_wait = false;
  llm::ProviderSettings provider;
};

// --temperature, --max-tokens, --reasoning-effort, --extra, --base-url, --api-key-env, --no-stream.
void add_request_options(CLI::App& command, RequestOptions& options);
// --no-wait, for those who may come back later.
void add_no_wait(CLI::App& command, RequestOptions& options);

// Errors: llm::valid_request's.
Result<llm::Request> request_of(const RequestOptions& options);
llm::ProviderSettings provider_settings(const RequestOptions& options);
// What the run's identity says of it.
nlohmann::json request_identity(const RequestOptions& options);

}  // namespace kagent
