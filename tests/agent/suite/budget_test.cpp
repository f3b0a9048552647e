#include "agent/suite/budget.h"

#include <gtest/gtest.h>

namespace kagent::suite {
namespace {

const llm::Price kPrice{"m", 1.0, 10.0, std::nullopt};  // USD per million tokens

llm::Request request(const std::string& task) {
  llm::Request r;
  r.task = task;
  r.prompt = "hello";             // one token
  r.max_output_tokens = 100'000;  // a dollar
  return r;
}

TEST(Budget, CountsWhatIsInFlightAtItsBound) {
  Budget budget(2.5, kPrice);
  EXPECT_TRUE(budget.may_ask(request("3/1")).ok());
  EXPECT_TRUE(budget.may_ask(request("3/2")).ok());
  const Status third = budget.may_ask(request("3/3"));
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().code, Code::kCancelled);
  budget.settle("3/1", 0.25);  // it was cheaper than its bound
  EXPECT_TRUE(budget.may_ask(request("3/3")).ok());
  EXPECT_DOUBLE_EQ(budget.spent_usd(), 0.25);
}

TEST(Budget, AResumedRunHasSpentWhatItsLogShows) {
  const std::vector<nlohmann::json> events = {
      {{"kind", "attempt"}, {"usage", {{"input_tokens", 1'000'000}, {"output_tokens", 100'000}}}},
      {{"kind", "attempt"}, {"usage", nlohmann::json::object()}},
      {{"kind", "reply"}, {"cost", {{"usd", 0.5}}}},
      {{"kind", "reply"}, {"cost", "unknown"}}};
  EXPECT_DOUBLE_EQ(spent_usd(events, kPrice), 2.5);
  EXPECT_DOUBLE_EQ(spent_usd(events, std::nullopt), 0.5);
}

TEST(Budget, NeedsAPriceAndABoundedReply) {
  EXPECT_TRUE(Budget::possible(std::nullopt, std::nullopt, std::nullopt).ok());
  EXPECT_TRUE(Budget::possible(1.0, kPrice, 1000).ok());
  EXPECT_NE(Budget::possible(1.0, std::nullopt, 1000).error().message.find("price"), std::string::npos);
  EXPECT_NE(Budget::possible(1.0, kPrice, std::nullopt).error().message.find("--max-tokens"), std::string::npos);
}

}  // namespace
}  // namespace kagent::suite
