#include "agent/suite/budget.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "agent/run/lease.h"

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

class BudgetOfRun : public ::testing::Test {
 protected:
  BudgetOfRun() { std::filesystem::remove_all(folder_); }
  ~BudgetOfRun() override { std::filesystem::remove_all(folder_); }

  // Asks as solve() does: the request is in the log before anybody else decides.
  bool ask(Budget& budget, const std::string& task) {
    Result<MayAsk> may = budget.may_ask(request(task), run_);
    if (!may) {
      EXPECT_EQ(may.error().code, Code::kCancelled) << may.error().message;
      return false;
    }
    log(task, "request",
        {{"sample", 1}, {"prompt_sha256", std::string(64, 'a')}, {"most_usd", may.value().most_usd.value_or(0)}});
    return true;
  }
  void log(const std::string& task, const std::string& kind, const nlohmann::json& body) {
    EXPECT_TRUE(run_.open_task(task).value()->append(kind, body).ok());
  }

  std::string folder_ =
      (std::filesystem::temp_directory_path() / ("kagent-budget-" + std::to_string(::getpid()))).string();
  run::RunDirectory run_ = run::RunDirectory::create_or_resume(folder_, {{"tasks", {"3/1", "3/2", "3/3"}}}, {}).value();
};

TEST_F(BudgetOfRun, CountsWhatIsInFlightAtItsBound) {
  Budget budget(2.5, kPrice);
  EXPECT_TRUE(ask(budget, "3/1"));
  EXPECT_TRUE(ask(budget, "3/2"));
  EXPECT_FALSE(ask(budget, "3/3"));
  log("3/1", "reply", {{"sample", 1}, {"answer_sha256", std::string(64, 'b')}, {"cost", {{"usd", 0.25}}}});
  EXPECT_TRUE(ask(budget, "3/3"));  // it was cheaper than its bound
}

TEST_F(BudgetOfRun, CountsWhatAKilledProcessLostAndWhatAnotherHasInFlight) {
  Budget first(2.5, kPrice);
  EXPECT_TRUE(ask(first, "3/1"));
  Budget second(2.5, kPrice);  // knows the logs and nothing else
  EXPECT_TRUE(ask(second, "3/1"));
  EXPECT_FALSE(ask(second, "3/2"));
  log("3/1", "reply", {{"sample", 1}, {"answer_sha256", std::string(64, 'b')}, {"cost", {{"usd", 0.25}}}});
  EXPECT_TRUE(ask(first, "3/2"));  // 1.00 lost, 0.25 paid, 1.00 asked for now
  EXPECT_FALSE(ask(second, "3/3"));
}

TEST_F(BudgetOfRun, WaitsWhileAnotherDecidesAndStopsWhenAsked) {
  Budget budget(2.5, kPrice);
  Result<MayAsk> other = Budget(2.5, kPrice).may_ask(request("3/1"), run_);
  ASSERT_TRUE(other.ok());
  const Result<MayAsk> stopped = budget.may_ask(request("3/2"), run_, [] { return true; });
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, Code::kCancelled);
  other = Error{};
  EXPECT_TRUE(ask(budget, "3/2"));
}

TEST(Spend, AResumedRunHasSpentWhatItsLogShows) {
  const std::vector<nlohmann::json> events = {
      {{"kind", "attempt"}, {"usage", {{"input_tokens", 1'000'000}, {"output_tokens", 100'000}}}},
      {{"kind", "attempt"}, {"usage", nlohmann::json::object()}},
      {{"kind", "reply"}, {"cost", {{"usd", 0.5}}}},
      {{"kind", "reply"}, {"cost", "unknown"}}};
  EXPECT_DOUBLE_EQ(spend_of(events, kPrice).paid_usd, 2.5);
  EXPECT_DOUBLE_EQ(spend_of(events, std::nullopt).paid_usd, 0.5);
}

TEST(Spend, ARequestThatAServerRefusedIsPaidByNobodyAndOneThatBrokeOffMayBe) {
  const nlohmann::json asked = {{"kind", "request"}, {"sample", 1}, {"most_usd", 1.0}};
  const nlohmann::json refused = {{"kind", "attempt"}, {"sample", 1}, {"http_status", 500}, {"wait_s", 0}};
  const nlohmann::json again = {{"kind", "attempt"}, {"sample", 1}, {"http_status", 500}, {"wait_s", 2}};
  const nlohmann::json broke = {{"kind", "attempt"}, {"sample", 1}, {"http_status", 0}, {"wait_s", 0}};
  const nlohmann::json unsaid = {{"kind", "reply"}, {"sample", 1}, {"cost", "unknown"}};
  EXPECT_DOUBLE_EQ(spend_of({asked, again, refused}, kPrice).open_usd, 0.0);
  EXPECT_DOUBLE_EQ(spend_of({asked, again}, kPrice).open_usd, 1.0);
  EXPECT_DOUBLE_EQ(spend_of({asked, broke}, kPrice).open_usd, 1.0);
  EXPECT_DOUBLE_EQ(spend_of({asked, unsaid}, kPrice).open_usd, 1.0);
}

TEST(Budget, NeedsAPriceAndABoundedReply) {
  EXPECT_TRUE(Budget::possible(std::nullopt, std::nullopt, std::nullopt).ok());
  EXPECT_TRUE(Budget::possible(1.0, kPrice, 1000).ok());
  EXPECT_NE(Budget::possible(1.0, std::nullopt, 1000).error().message.find("price"), std::string::npos);
  EXPECT_NE(Budget::possible(1.0, kPrice, std::nullopt).error().message.find("--max-tokens"), std::string::npos);
}

}  // namespace
}  // namespace kagent::suite
