#include "agent/llm/make_provider.h"

#include <fmt/format.h>

#include "agent/base/nearest.h"
#include "agent/llm/curl_transport.h"
#include "agent/llm/dialect.h"
#include "agent/llm/http_provider.h"
#include "agent/llm/secret.h"
#include "agent/llm/spool_provider.h"
#include "agent/llm/url.h"

namespace kagent::llm {
namespace {

using Made = Result<std::unique_ptr<Provider>>;

Error usage(std::string message) { return {Code::kUsage, std::move(message)}; }

Made make_http(const Dialect& dialect, const std::string& model, const ProviderSettings& settings) {
  if (!settings.token_limit_field.empty() && settings.token_limit_field != "max_tokens" &&
      settings.token_limit_field != "max_completion_tokens")
    return usage("the token limit's field is max_tokens or max_completion_tokens");
  const bool own_host = settings.base_url.empty();
  const Result<std::string> base =
      base_of(own_host ? dialect.default_base : std::string_view(settings.base_url), dialect.default_version);
  if (!base) return base.error();
  HttpSettings http;
  http.target = {model, own_host, settings.token_limit_field};
  http.base = base.value();
  http.key_name = settings.api_key_env.empty() ? std::string(dialect.key_name) : settings.api_key_env;
  http.retry = settings.retry;
  Result<std::string> key = take_key(http.key_name);
  if (!key) return key.error();
  http.key = std::move(key).value();
  if (http.key.empty() && (own_host || !settings.api_key_env.empty()))
    return Error{Code::kAuth, fmt::format("{}:{} needs a key and {} is not set: export {}=...", dialect.name, model,
                                          http.key_name, http.key_name)};
  // A key for the provider itself does not travel in the clear unless the user names it for this server.
  const bool in_the_clear = http.base.substr(0, 7) == "http://" && !is_loopback(http.base);
  if (in_the_clear && settings.api_key_env.empty() && !http.key.empty()) {
    http.key.clear();
    http.key_withheld = true;
  }
  auto transport = settings.transport ? settings.transport() : curl_transport();
  auto clock = settings.clock ? settings.clock : real_clock();
  return {std::make_unique<HttpProvider>(dialect, std::move(http), std::move(transport), std::move(clock))};
}

Made make_spool(std::string folder, const ProviderSettings& settings) {
  SpoolSettings spool;
  spool.wait = settings.spool_wait;
  spool.poll_s = settings.spool_poll_s;
  for (const auto& [ending, wait] : {std::pair(",no-wait", false), std::pair(",wait", true)}) {
    const std::string_view word = ending;
    if (folder.size() <= word.size() || folder.substr(folder.size() - word.size()) != word) continue;
    folder.resize(folder.size() - word.size());
    spool.wait = wait;
    break;
  }
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  spool.folder = std::move(folder);
  return spool_provider(std::move(spool), settings.clock ? settings.clock : real_clock());
}

Made make_replay(const std::string& run, const ProviderSettings& settings) {
  if (!settings.open_recorded) return Error{Code::kInternal, "this command cannot replay a recorded run"};
  Result<std::unique_ptr<RecordedReplies>> recorded = settings.open_recorded(run);
  if (!recorded) return recorded.error();
  return replay_provider(run, std::move(recorded).value());
}

Error unknown_provider(const std::string& model, const std::string& provider) {
  std::vector<std::string> known = {"replay", "spool"};
  for (const Dialect* dialect : dialects()) known.emplace_back(dialect->name);
  const std::string all = "openai, anthropic, gemini, replay or spool";
  if (model.find(':') == std::string::npos)
    return usage(fmt::format("--model \"{}\" lacks its provider: write PROVIDER:{}, with {}", one_line(model),
                             one_line(model), all));
  const std::optional<std::string> near = nearest(provider, known);
  return usage(fmt::format("there is no provider \"{}\"{}; there are {}", one_line(provider),
                           near ? fmt::format(", did you mean \"{}\"?", *near) : "", all));
}

}  // namespace

Made make_provider(const std::string& model, const ProviderSettings& settings) {
  for (const Dialect* dialect : dialects()) {  // keys of the others must not reach children either
    if (Result<std::string> taken = take_key(std::string(dialect->key_name)); !taken) continue;
  }
  const std::size_t colon = model.find(':');
  const std::string provider = model.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : model.substr(colon + 1);
  const auto dialect = std::find_if(dialects().begin(), dialects().end(), [&](auto d) { return d->name == provider; });
  const bool known = dialect != dialects().end() || provider == "replay" || provider == "spool";
  if (!known || colon == std::string::npos) return unknown_provider(model, provider);
  const bool is_http = dialect != dialects().end();
  if (rest.empty() || rest != one_line(rest, rest.size()))
    return usage(fmt::format("--model \"{}\" names no {}", one_line(model), is_http ? "model" : "folder"));
  if (is_http) return make_http(**dialect, rest, settings);
  return provider == "spool" ? make_spool(rest, settings) : make_replay(rest, settings);
}

}  // namespace kagent::llm
