// Reasoning effort in words, as a budget of thinking tokens, for the dialects that count tokens.
// The words are OpenAI's; the budgets are ours, chosen to fit kAnthropicDefaultOutputTokens. A plain number is itself.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace kagent::llm {

inline constexpr int kAnthropicDefaultOutputTokens = 32000;

// 0: no thinking. Nothing: neither a word we know nor a number.
inline std::optional<int> thinking_budget(std::string_view effort) {
  if (effort == "none") return 0;
  if (effort == "minimal") return 1024;
  if (effort == "low") return 4096;
  if (effort == "medium") return 8192;
  if (effort == "high") return 16384;
  int budget = 0;
  const auto [end, failed] = std::from_chars(effort.data(), effort.data() + effort.size(), budget);
  if (failed != std::errc() || end != effort.data() + effort.size() || budget < 0) return std::nullopt;
  return budget;
}

}  // namespace kagent::llm
