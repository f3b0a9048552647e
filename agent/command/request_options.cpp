#include "agent/command/request_options.h"

#include <limits>

#include "agent/command/options.h"
#include "agent/command/recorded.h"

namespace kagent {

void add_request_options(CLI::App& command, RequestOptions& options) {
  command.add_option("--temperature", options.temperature, "sampling temperature")->check(real_number());
  command.add_option("--max-tokens", options.max_tokens, "limit of a reply's tokens, reasoning included")
      ->check(whole_between(1, std::numeric_limits<int>::max()));
  command.add_option("--reasoning-effort", options.effort, "low, medium, high, ... or a token budget");
  command.add_option("--extra", options.extra, "JSON object merged into the request")->type_name("JSON");
  command
      .add_option("--base-url", options.provider.base_url,
                  "another server that speaks the dialect (vLLM, Ollama, LiteLLM, ...)")
      ->type_name("URL");
  command.add_option("--api-key-env", options.provider.api_key_env, "environment variable that holds the key")
      ->type_name("NAME");
  command.add_flag("--no-stream", options.no_stream, "ask for the reply in one piece");
}

void add_no_wait(CLI::App& command, RequestOptions& options) {
  command.add_flag("--no-wait", options.no_wait, "spool: write the prompts and come back later (exit 4)");
}

Result<llm::Request> request_of(const RequestOptions& options) {
  llm::Request request;
  request.temperature = options.temperature;
  request.max_output_tokens = options.max_tokens;
  request.reasoning_effort = options.effort;
  request.extra = options.extra;
  request.stream = !options.no_stream;
  if (Status valid = llm::valid_request(request); !valid) return valid.error();
  return request;
}

llm::ProviderSettings provider_settings(const RequestOptions& options) {
  llm::ProviderSettings settings = options.provider;
  settings.spool_wait = !options.no_wait;
  settings.open_recorded = open_recorded_run;
  return settings;
}

nlohmann::json request_identity(const RequestOptions& options) {
  nlohmann::json request = {{"stream", !options.no_stream}};
  if (options.temperature) request["temperature"] = *options.temperature;
  if (options.max_tokens) request["max_tokens"] = *options.max_tokens;
  if (options.effort) request["reasoning_effort"] = *options.effort;
  if (!options.extra.empty()) request["extra"] = nlohmann::json::parse(options.extra, nullptr, false);
  return request;
}

}  // namespace kagent
