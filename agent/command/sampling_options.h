// How samples are drawn from a model: the options that `solve`, `run` and `generate` share, and what follows from them.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "agent/command/request_options.h"
#include "agent/llm/pricing.h"
#include "agent/prompt/prompt_set.h"
#include "agent/solve/solve.h"

namespace kagent {

struct SamplingOptions {
  std::string model;
  std::string protocol = "feedback";
  std::string prompt_set = "default";
  int samples = 5;  // at most, a task
  bool stop_when_faster = false;
  RequestOptions request;
};
void add_sampling_options(CLI::App& command, SamplingOptions& options);
// --config FILE: config_file.h reads it.
void add_config_option(CLI::App& command, std::string& file);

// "independent", else feedback.
Protocol protocol_of(const std::string& text);

// Errors: llm::valid_request's.
Result<SolveSettings> solve_settings(const SamplingOptions& options);

// What the run's identity says of it.
nlohmann::json sampling_identity(const SamplingOptions& options, const PromptSet& prompts);

// What else stops a run before its first request: a model or key that cannot be used, a run directory that is
// another's. Told on stderr; returns the exit code. Nobody is asked: what only a server knows stays open.
int check_dry_run(const SamplingOptions& options, const std::string& run_folder, const nlohmann::json& identity);

// Of "provider:model". Nothing: unknown.
std::optional<llm::Price> price_of_model(const llm::PriceList& prices, const std::string& model);
// What the log says that a reply cost.
Price price_by(std::optional<llm::Price> price);

}  // namespace kagent
