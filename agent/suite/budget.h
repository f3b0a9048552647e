// Money: what was spent, what requests in flight may still cost, and whether there is enough for one more.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "agent/llm/pricing.h"
#include "agent/run/task_state.h"

namespace kagent::suite {

// USD that a task's log shows as paid: replies, and failed attempts that reported their tokens.
double spent_usd(const std::vector<nlohmann::json>& events, const std::optional<llm::Price>& price);

class Budget {
 public:
  // Without a limit it only counts. With one, a request's cost must be bounded: errors kUsage name what is missing.
  static Status possible(std::optional<double> limit_usd, const std::optional<llm::Price>& price,
                         std::optional<int> max_output_tokens);

  Budget(std::optional<double> limit_usd, std::optional<llm::Price> price)
      : limit_usd_(limit_usd), price_(std::move(price)) {}

  // Sets the most that this request can cost aside. kCancelled: it may pass the limit.
  Status may_ask(const llm::Request& request);
  // The request of this task is over; `spent_usd` is what the task's log now shows in all.
  void settle(const std::string& task, double spent_usd);
  [[nodiscard]] double spent_usd() const;

 private:
  std::optional<double> limit_usd_;
  std::optional<llm::Price> price_;
  mutable std::mutex mutex_;
  std::map<std::string, double> spent_;     // by task
  std::map<std::string, double> reserved_;  // by task: one request at a time
};

}  // namespace kagent::suite
