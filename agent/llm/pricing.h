// What a reply cost, from a price file that the user edits (settings/prices.toml says how). Prices change and kagent
// knows none by itself: what stands in no file costs "unknown", never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.h"
#include "agent/llm/provider.h"

namespace kagent::llm {

// USD per million tokens.
struct Price {
  std::string model;  // "openai:gpt-x" or "gpt-x"; * stands for any characters
  double input = 0;
  double output = 0;
  std::optional<double> cached;  // input read from a cache; absent: as `input`
};

using PriceList = std::vector<Price>;  // the first that matches holds

// Errors: kParse with line (no such entry, an unknown or repeated field, a price that is negative or missing).
Result<PriceList> parse_prices(std::string_view text, const std::string& name);

// The lists of those files that are there, one after another. Errors: as parse_prices, kIo.
Result<PriceList> load_prices(const std::vector<std::string>& files);
// ~/.config/kagent/prices.toml (or $XDG_CONFIG_HOME), then <root>/settings/prices.toml: the user's own comes first.
std::vector<std::string> price_files(const std::string& root);

// `provider`: "openai"; `model`: as asked for or as returned. Nothing: unknown.
std::optional<Price> price_of(const PriceList& prices, std::string_view provider, std::string_view model);

// Nothing if the price, the input tokens or the output tokens are unknown.
std::optional<double> cost_usd(const std::optional<Price>& price, const Usage& usage);

// Most that one request can cost: its prompt uncached and all its output tokens. Nothing: unknown or unlimited.
std::optional<double> cost_bound_usd(const std::optional<Price>& price, std::int64_t prompt_tokens,
                                     std::optional<int> max_output_tokens);

// "$0.0123" or "unknown".
std::string cost_text(std::optional<double> usd);

}  // namespace kagent::llm
