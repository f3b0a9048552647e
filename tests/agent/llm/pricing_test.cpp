#include "agent/llm/pricing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "agent/base/file.h"
#include "agent/llm/estimate.h"

namespace kagent::llm {
namespace {

using testing::HasSubstr;

constexpr const char* kList = R"(
[[price]]
model = "openai:gpt-x*"
input = 2  # USD
cached = 0.5
output = 8.0
note = "made up, # and all"  # a comment
[[price]]
model = "*-free"
input = 0
output = 0
)";

TEST(Pricing, CountsCachedInputApart) {
  const PriceList prices = parse_prices(kList, "p.toml").value();
  const auto price = price_of(prices, "openai", "gpt-x-2026");
  EXPECT_DOUBLE_EQ(*cost_usd(price, {1'000'000, 500'000, 100'000, 400'000}), 0.6 * 2 + 0.4 * 0.5 + 0.5 * 8);
  EXPECT_DOUBLE_EQ(*cost_usd(price, {1000, 0, {}, {}}), 0.002);
  EXPECT_DOUBLE_EQ(*cost_usd(price, {1000, 0, {}, 5000}), 0.0005);  // more cached than there is: all of it
}

TEST(Pricing, IsUnknownRatherThanNothing) {
  const PriceList prices = parse_prices(kList, "p.toml").value();
  const auto price = price_of(prices, "openai", "gpt-x");
  EXPECT_EQ(price_of(prices, "gemini", "gpt-x"), std::nullopt);
  EXPECT_EQ(cost_usd(std::nullopt, {1, 1, {}, {}}), std::nullopt);
  EXPECT_EQ(cost_usd(price, {1, {}, {}, {}}), std::nullopt);
  EXPECT_EQ(cost_usd(price, {}), std::nullopt);
  EXPECT_EQ(cost_text(std::nullopt), "unknown");
  EXPECT_EQ(cost_text(cost_usd(price_of(prices, "openai", "mine-free"), {5, 5, {}, {}})), "$0.0000");
}

TEST(Pricing, BoundsARequestOnlyWhenItsOutputIsBounded) {
  const auto price = price_of(parse_prices(kList, "p.toml").value(), "openai", "gpt-x");
  EXPECT_DOUBLE_EQ(*cost_bound_usd(price, 1'000'000, 1'000'000), 10);
  EXPECT_EQ(cost_bound_usd(price, 1'000'000, std::nullopt), std::nullopt);
}

TEST(Pricing, RefusesWrongFilesWithTheLine) {
  const struct {
    const char* text;
    const char* says;
  } rows[] = {
      {"[[price]]\nmodel = \"m\"\ninput = 1", "line 3: the [[price]] that ends here lacks output"},
      {"[[price]]\ninput = 1\noutput = 1", "lacks model"},
      {"[[price]]\ninput = 1\noutput = 1\n[[price]]", "line 4"},
      {"[[price]]\nmodel=\"m\"\ninput = -1\noutput = 1", "line 3: input must be USD"},
      {"[[price]]\nmodel=\"m\"\ninput = nan\noutput = 1", "input must be USD"},
      {"[[price]]\nmodel=\"m\"\ninput = \"1\"\noutput = 1", "input must be USD"},
      {"[[price]]\nmodel=\"m\"\ninput = 1 USD\noutput = 1", "input must be USD"},
      {"[[price]]\nmodel=\"m\"\ninput = 1,5\noutput = 1", "input must be USD"},
      {"[[price]]\nmodel=m\ninput = 1\noutput = 1", "model must be text in double quotes"},
      {"[[price]]\nmodel=\"\"\ninput = 1\noutput = 1", "model must be text"},
      {"[[price]]\nmodel=\"m\"\ninput=1\noutput=1\ncashed=1", "did you mean \"cached\""},
      {"[[price]]\nmodel=\"m\"\ninput=1\ninput=2\noutput=1", "given twice"},
      {"\n\n[price]\nmodel=\"m\"", "line 3"},
      {"model = \"m\"", "[[price]] must stand before"},
      {"[[price]] x", "only [[price]]"},
      {"[[price]]\nmodel", "name = value"},
      {"[[price", "line 1"},
      {"[?", "line 1"},
  };
  for (const auto& row : rows) {
    const auto prices = parse_prices(row.text, "p.toml");
    ASSERT_FALSE(prices.ok()) << row.text;
    EXPECT_EQ(prices.error().code, Code::kParse);
    EXPECT_THAT(prices.error().message, HasSubstr("p.toml"));
    EXPECT_THAT(prices.error().message, HasSubstr(row.says));
  }
}

TEST(Pricing, PutsTheUsersOwnListFirstAndLetsFilesBeMissing) {
  const std::string folder = testing::TempDir() + "kagent_prices";
  ASSERT_TRUE(write_file(folder + "/a.toml", "[[price]]\nmodel=\"m\"\ninput=1\noutput=1\n").ok());
  ASSERT_TRUE(write_file(folder + "/b.toml", "[[price]]\nmodel=\"*\"\ninput=2\noutput=2\n").ok());
  const auto prices = load_prices({folder + "/none.toml", folder + "/a.toml", folder + "/b.toml"});
  ASSERT_TRUE(prices.ok());
  EXPECT_EQ(price_of(prices.value(), "x", "m")->input, 1);
  EXPECT_EQ(price_of(prices.value(), "x", "n")->input, 2);
  EXPECT_THAT(price_files("/root-folder").back(), "/root-folder/settings/prices.toml");
}

TEST(Pricing, ShipsAFileThatClaimsNoPrice) {
  const auto prices = load_prices({KAGENT_SOURCE_DIR "/settings/prices.toml"});
  ASSERT_TRUE(prices.ok()) << prices.error().message;
  EXPECT_TRUE(prices.value().empty());
}

TEST(Estimate, CountsWordsSignsAndOtherScripts) {
  EXPECT_EQ(estimate_tokens(""), 0);
  EXPECT_EQ(estimate_tokens("hello world"), 2);
  EXPECT_EQ(estimate_tokens("    x"), 2);
  EXPECT_EQ(estimate_tokens("a+b"), 3);
  EXPECT_EQ(estimate_tokens("123456"), 2);
  EXPECT_EQ(estimate_tokens("\xE4\xBD\xA0\xE5\xA5\xBD"), 4);
}

}  // namespace
}  // namespace kagent::llm
