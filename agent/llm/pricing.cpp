#include "agent/llm/pricing.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>

#include "agent/base/file.h"
#include "agent/base/nearest.h"
#include "agent/llm/secret.h"

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

// A price file is the part of TOML that it needs: [[price]] headers, name = "text" or number, comments. Read here and
// not by toml++, whose version in Debian 12 (3.3) runs into undefined behaviour on mistyped files ("[?", "a = [ }").
struct Reader {
  const std::string& name;
  int number = 0;  // of the line
  PriceList prices;
  std::set<std::string, std::less<>> fields;  // of the entry under way

  [[nodiscard]] Error wrong(std::string_view what) const {
    return {Code::kParse, fmt::format("{}, line {}: {}", name, number, what)};
  }

  Status line(std::string_view text) {
    text = trimmed(text);
    if (text.empty() || text.front() == '#') return Ok{};
    if (text.front() == '[') {
      const std::string_view rest = trimmed(text.substr(std::min(text.size(), kHeader.size())));
      if (text.substr(0, kHeader.size()) != kHeader || !(rest.empty() || rest.front() == '#'))
        return wrong("only [[price]] entries stand in a price file");
      if (Status whole = end_entry(); !whole) return whole;
      prices.emplace_back();
      return Ok{};
    }
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return wrong("expected name = value");
    if (prices.empty()) return wrong("a [[price]] must stand before the first value");
    return field(std::string(trimmed(text.substr(0, equals))), trimmed(text.substr(equals + 1)));
  }

  Status field(const std::string& field, std::string_view value) {
    static const std::vector<std::string> known = {"model", "input", "cached", "output", "note"};
    if (std::find(known.begin(), known.end(), field) == known.end()) {
      const auto near = nearest(field, known);
      return wrong(fmt::format("unknown field \"{}\"{}", one_line(field, 60),
                               near ? fmt::format(", did you mean \"{}\"?", *near) : ""));
    }
    if (!fields.insert(field).second) return wrong(fmt::format("{} is given twice", field));
    Price& price = prices.back();
    if (field == "model" || field == "note") {
      const std::optional<std::string> text = quoted(value);
      if (!text) return wrong(fmt::format("{} must be text in double quotes", field));
      if (field == "model") price.model = *text;
      return Ok{};
    }
    const std::optional<double> usd = number_of(value);
    if (!usd) return wrong(fmt::format("{} must be USD per million tokens, a number of 0 or more", field));
    if (field == "input") price.input = *usd;
    if (field == "output") price.output = *usd;
    if (field == "cached") price.cached = *usd;
    return Ok{};
  }

  Status end_entry() {
    for (const char* needed : {"model", "input", "output"}) {
      if (!prices.empty() && fields.count(needed) == 0)
        return wrong(fmt::format("the [[price]] that ends here lacks {}", needed));
    }
    fields.clear();
    return Ok{};
  }

  static constexpr std::string_view kHeader = "[[price]]";
  static std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r";
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    return text.substr(0, text.find_last_not_of(kBlank) + 1);
  }
  static bool only_comment(std::string_view rest) {
    rest = trimmed(rest);
    return rest.empty() || rest.front() == '#';
  }
  // Text without escapes: model names and notes need none.
  static std::optional<std::string> quoted(std::string_view value) {
    const std::size_t end = value.find('"', 1);
    if (value.empty() || value.front() != '"' || end == std::string_view::npos) return std::nullopt;
    const std::string_view text = value.substr(1, end - 1);
    if (text.empty() || text.find('\\') != std::string_view::npos || !only_comment(value.substr(end + 1)))
      return std::nullopt;
    return std::string(text);
  }
  static std::optional<double> number_of(std::string_view value) {
    double number = 0;
    const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
    const auto used = static_cast<std::size_t>(end - value.data());
    if (failed != std::errc() || !std::isfinite(number) || number < 0 || !only_comment(value.substr(used)))
      return std::nullopt;
    return number;
  }
};

}  // namespace

Result<PriceList> parse_prices(std::string_view text, const std::string& name) {
  Reader reader{name, 0, {}, {}};
  while (!text.empty()) {
    ++reader.number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (Status read = reader.line(text.substr(0, end)); !read) return read.error();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (Status whole = reader.end_entry(); !whole) return whole.error();
  return std::move(reader.prices);
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
