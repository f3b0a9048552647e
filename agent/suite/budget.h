// Money: what was spent, what requests without a reply may cost, and whether there is enough for one more.
//
// The logs are all that is known: before each request, under a lock in the run directory, they are read, and the
// request is in the log before the lock is given back. So all processes on one run directory together keep to a limit,
// and a request that a killed process lost stays counted at the most that it can have cost.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "agent/llm/pricing.h"
#include "agent/run/run_directory.h"
#include "agent/solve/solve.h"

namespace kagent::suite {

struct Spend {
  double paid_usd = 0;  // replies, and failed attempts that reported their tokens
  double open_usd = 0;  // requests without a reply, lost or in flight, at `most_usd`
};
Spend spend_of(const std::vector<nlohmann::json>& events, const std::optional<llm::Price>& price);

class Budget {
 public:
  // Without a limit it only counts. With one, a request's cost must be bounded: errors kUsage name what is missing.
  static Status possible(std::optional<double> limit_usd, const std::optional<llm::Price>& price,
                         std::optional<int> max_output_tokens);

  Budget(std::optional<double> limit_usd, std::optional<llm::Price> price)
      : limit_usd_(limit_usd), price_(std::move(price)) {}

  // Whether the limit holds this request on top of what the run's logs show. Errors: kCancelled (it may pass the limit,
  // or `stopped` while waiting for the lock), kParse (a damaged log), kIo.
  Result<MayAsk> may_ask(const llm::Request& request, const run::RunDirectory& run,
                         const std::function<bool()>& stopped = {});
  // What the task's log now shows: for those who look.
  void settle(const std::string& task, const Spend& spend);
  [[nodiscard]] double spent_usd() const;

 private:
  Result<double> in_logs(const run::RunDirectory& run);

  std::optional<double> limit_usd_;
  std::optional<llm::Price> price_;
  mutable std::mutex mutex_;
  std::map<std::string, double> spent_;  // by task
  struct Read {
    std::uintmax_t bytes = 0;
    double usd = 0;
  };
  std::map<std::string, Read> read_;  // by task; under the lock of the run directory and mutex_
};

}  // namespace kagent::suite
