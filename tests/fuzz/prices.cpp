// Price files, and what is asked of the list.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "agent/llm/pricing.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kagent::llm;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto prices = parse_prices(bytes, "fuzz");
  if (!prices) {
    require(prices.error().message.find('\n') == std::string::npos);
    return 0;
  }
  for (const Price& price : prices.value())
    require(std::isfinite(price.input) && price.input >= 0 && price.output >= 0);
  Usage usage;
  usage.input_tokens = 1000;
  usage.output_tokens = 1'000'000'000'000;
  const auto cost = cost_usd(price_of(prices.value(), "openai", bytes.substr(0, 100)), usage);
  require(!cost_text(cost).empty());
  return 0;
}
