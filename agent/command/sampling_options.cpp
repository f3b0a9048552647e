#include "agent/command/sampling_options.h"

#include <utility>

#include "agent/command/commands.h"
#include "agent/command/options.h"
#include "agent/run/run_directory.h"

namespace kagent {

void add_sampling_options(CLI::App& command, SamplingOptions& options) {
  command.add_option("--model", options.model, "openai:NAME, anthropic:NAME, gemini:NAME, replay:RUN or spool:FOLDER")
      ->required()
      ->type_name("PROVIDER:MODEL");
  command.add_option("--samples", options.samples, "at most this many a task")
      ->check(whole_between(1, 5))
      ->capture_default_str();
  command.add_option("--protocol", options.protocol, "feedback: samples see earlier results; independent: they do not")
      ->check(CLI::IsMember({"feedback", "independent"}))
      ->capture_default_str();
  command.add_flag("--stop-when-faster", options.stop_when_faster,
                   "a task ends at its first sample that counts: accepted and faster, in the default precision tier");
  command.add_option("--prompt-set", options.prompt_set, "folder under prompts/")->capture_default_str();
  add_request_options(command, options.request);
  add_no_wait(command, options.request);
}

void add_config_option(CLI::App& command, std::string& file) {
  command
      .add_option("--config", file,
                  "TOML file with any of these settings, e.g. model = \"...\"; the command line goes before it")
      ->type_name("FILE")
      ->check(not_blank());
}

Protocol protocol_of(const std::string& text) {
  return text == "independent" ? Protocol::kIndependent : Protocol::kFeedback;
}

Result<SolveSettings> solve_settings(const SamplingOptions& options) {
  Result<llm::Request> request = request_of(options.request);
  if (!request) return request.error();
  return SolveSettings{options.samples, protocol_of(options.protocol), Part::kAll, options.stop_when_faster,
                       std::move(request).value()};
}

nlohmann::json sampling_identity(const SamplingOptions& options, const PromptSet& prompts) {
  return {{"model", options.model},
          {"base_url", options.request.provider.base_url},
          {"request", request_identity(options.request)},
          {"protocol", options.protocol},
          {"samples", options.samples},
          {"stop_when_faster", options.stop_when_faster},
          {"prompt_set", prompts.name},
          {"prompt_set_sha256", prompts.sha256}};
}

int check_dry_run(const SamplingOptions& options, const std::string& run_folder, const nlohmann::json& identity) {
  int exit_code = 0;
  auto provider = llm::make_provider(options.model, provider_settings(options.request));
  if (!provider) exit_code = fail(provider.error());
  if (Status usable = provider ? provider.value()->check_here() : Ok{}; !usable) exit_code = fail(usable.error());
  if (Status takes = run::RunDirectory::would_take(run_folder, identity); !takes) exit_code = fail(takes.error());
  return exit_code;
}

std::optional<llm::Price> price_of_model(const llm::PriceList& prices, const std::string& model) {
  const std::size_t colon = model.find(':');
  return llm::price_of(prices, model.substr(0, colon), colon == std::string::npos ? "" : model.substr(colon + 1));
}

Price price_by(std::optional<llm::Price> price) {
  return [price = std::move(price)](const llm::Reply& reply) -> nlohmann::json {
    const auto usd = llm::cost_usd(price, reply.usage);
    return usd ? nlohmann::json{{"usd", *usd}} : nlohmann::json("unknown");
  };
}

}  // namespace kagent
