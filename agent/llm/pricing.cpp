#include "agent/llm/pricing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "agent/base/file.h"
#include "agent/base/nearest.h"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0  // NOLINT
#include <toml++/toml.h>

namespace kagent::llm {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

// * stands for any characters, none included.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Result<Price> price_from(const toml::table& table, const std::string& name) {
  const auto wrong = [&](std::string_view what) {
    return Error{Code::kParse, fmt::format("{}, line {}: {}", name, table.source().begin.line, what)};
  };
  static const std::vector<std::string> known = {"model", "input", "cached", "output", "note"};
  for (const auto& [key, value] : table) {
    const std::string field(key.str());
    if (std::find(known.begin(), known.end(), field) != known.end()) continue;
    const auto near = nearest(field, known);
    return wrong(
        fmt::format("unknown field \"{}\"{}", field, near ? fmt::format(", did you mean \"{}\"?", *near) : ""));
  }
  Price price;
  price.model = table["model"].value_or(std::string());
  if (price.model.empty()) return wrong("a [[price]] needs model = \"...\"");
  for (const char* field : {"input", "cached", "output"}) {
    const bool there = table.contains(field);
    if (!there && std::string_view(field) == "cached") continue;
    const double usd = table[field].value<double>().value_or(-1);
    if (!std::isfinite(usd) || usd < 0)
      return wrong(fmt::format("{} of \"{}\" must be USD per million tokens, 0 or more", field, price.model));
    if (std::string_view(field) == "input") price.input = usd;
    if (std::string_view(field) == "cached") price.cached = usd;
    if (std::string_view(field) == "output") price.output = usd;
  }
  return price;
}

}  // namespace

Result<PriceList> parse_prices(std::string_view text, const std::string& name) {
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed)
    return Error{Code::kParse, fmt::format("{}, line {}: {}", name, parsed.error().source().begin.line,
                                           std::string(parsed.error().description()))};
  PriceList prices;
  for (const auto& [key, value] : parsed.table()) {
    const toml::array* list = value.as_array();
    if (key.str() != "price" || list == nullptr)
      return Error{Code::kParse, fmt::format("{}, line {}: only [[price]] entries stand in a price file", name,
                                             value.source().begin.line)};
    for (const toml::node& entry : *list) {
      if (!entry.is_table()) return Error{Code::kParse, fmt::format("{}: write prices as [[price]] entries", name)};
      Result<Price> price = price_from(*entry.as_table(), name);
      if (!price) return price.error();
      prices.push_back(std::move(price).value());
    }
  }
  return prices;
}

Result<PriceList> load_prices(const std::vector<std::string>& files) {
  PriceList all;
  for (const std::string& file : files) {
    const Result<std::string> text = read_file(file, kMostBytes);
    if (!text && text.error().code == Code::kNotFound) continue;
    if (!text) return text.error();
    Result<PriceList> prices = parse_prices(text.value(), file);
    if (!prices) return prices;
    all.insert(all.end(), prices.value().begin(), prices.value().end());
  }
  return all;
}

std::vector<std::string> price_files(const std::string& root) {
  std::vector<std::string> files;
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (config != nullptr && *config != '\0')
    files.push_back(std::string(config) + "/kagent/prices.toml");
  else if (home != nullptr && *home != '\0')
    files.push_back(std::string(home) + "/.config/kagent/prices.toml");
  files.push_back(root + "/settings/prices.toml");
  return files;
}

std::optional<Price> price_of(const PriceList& prices, std::string_view provider, std::string_view model) {
  const std::string full = fmt::format("{}:{}", provider, model);
  for (const Price& price : prices) {
    if (matches(price.model, model) || matches(price.model, full)) return price;
  }
  return std::nullopt;
}

std::optional<double> cost_usd(const std::optional<Price>& price, const Usage& usage) {
  if (!price || !usage.input_tokens || !usage.output_tokens) return std::nullopt;
  const auto input = static_cast<double>(*usage.input_tokens);
  const double cached = std::min(input, static_cast<double>(usage.cached_tokens.value_or(0)));
  const double millions_usd = (input - cached) * price->input + cached * price->cached.value_or(price->input) +
                              static_cast<double>(*usage.output_tokens) * price->output;
  return millions_usd / 1e6;
}

std::optional<double> cost_bound_usd(const std::optional<Price>& price, std::int64_t prompt_tokens,
                                     std::optional<int> max_output_tokens) {
  if (!max_output_tokens) return std::nullopt;
  Usage usage;
  usage.input_tokens = prompt_tokens;
  usage.output_tokens = *max_output_tokens;
  return cost_usd(price, usage);
}

std::string cost_text(std::optional<double> usd) { return usd ? fmt::format("${:.4f}", *usd) : "unknown"; }

}  // namespace kagent::llm
