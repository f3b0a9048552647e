#include "agent/suite/budget.h"

#include <fmt/format.h>

#include <numeric>

#include "agent/base/json_text.h"
#include "agent/llm/estimate.h"

namespace kagent::suite {
namespace {

std::optional<std::int64_t> tokens(const nlohmann::json& usage, const char* key) {
  const auto found = usage.find(key);
  if (found == usage.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

double sum(const std::map<std::string, double>& amounts) {
  return std::accumulate(amounts.begin(), amounts.end(), 0.0,
                         [](double total, const auto& entry) { return total + entry.second; });
}

}  // namespace

double spent_usd(const std::vector<nlohmann::json>& events, const std::optional<llm::Price>& price) {
  double usd = 0;
  for (const nlohmann::json& event : events) {
    const std::string kind = text_or(event, "kind", "");
    if (kind == "reply") usd += number_or(object_in(event, "cost"), "usd", 0.0);
    if (kind != "attempt") continue;
    const nlohmann::json usage = object_in(event, "usage");
    const llm::Usage used{tokens(usage, "input_tokens"), tokens(usage, "output_tokens"), std::nullopt,
                          tokens(usage, "cached_tokens")};
    usd += llm::cost_usd(price, used).value_or(0.0);
  }
  return usd;
}

Status Budget::possible(std::optional<double> limit_usd, const std::optional<llm::Price>& price,
                        std::optional<int> max_output_tokens) {
  if (!limit_usd) return Ok{};
  if (!price) return Error{Code::kUsage, "--budget-usd needs the model's price: add it to settings/prices.toml"};
  if (!max_output_tokens)
    return Error{Code::kUsage, "--budget-usd needs --max-tokens: without it a single reply has no bound"};
  return Ok{};
}

Status Budget::may_ask(const llm::Request& request) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (!limit_usd_) return Ok{};
  const double bound =
      llm::cost_bound_usd(price_, llm::estimate_tokens(request.prompt), request.max_output_tokens).value_or(0.0);
  const double bound_so_far = sum(spent_) + sum(reserved_);
  if (bound_so_far + bound > *limit_usd_) {
    return Error{Code::kCancelled,
                 fmt::format("the budget of {} does not hold another request of at most {} ({} spent or in flight)",
                             llm::cost_text(*limit_usd_), llm::cost_text(bound), llm::cost_text(bound_so_far))};
  }
  reserved_[request.task] = bound;
  return Ok{};
}

void Budget::settle(const std::string& task, double spent_usd) {
  const std::lock_guard<std::mutex> guard(mutex_);
  reserved_.erase(task);
  spent_[task] = spent_usd;
}

double Budget::spent_usd() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return sum(spent_);
}

}  // namespace kagent::suite
