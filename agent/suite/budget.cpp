#include "agent/suite/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <numeric>
#include <thread>

#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/llm/estimate.h"
#include "agent/run/lease.h"

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

// Of the sample's last request.
double last_bound(const std::vector<nlohmann::json>& events, std::int64_t sample) {
  double bound = 0;
  for (const nlohmann::json& event : events) {
    if (text_or(event, "kind", "") == "request" && integer_or(event, "sample", 0) == sample)
      bound = number_or(event, "most_usd", 0.0);
  }
  return bound;
}

// <run>/budget/lease: one process and one thread at a time decides. It is held for as long as it takes to read the logs
// and to log one request.
Result<std::shared_ptr<void>> lock(const run::RunDirectory& run, const std::function<bool()>& stopped) {
  const std::string folder = run.folder() + "/budget";
  if (Status made = make_folder(folder); !made) return made.error();
  while (true) {
    Result<run::Lease> lease = run::Lease::take(folder);
    if (lease) return std::shared_ptr<void>(std::make_shared<run::Lease>(std::move(lease).value()));
    if (lease.error().code != Code::kBusy) return lease.error();
    if (stopped && stopped()) return Error{Code::kCancelled, "stopped while another process was about to ask"};
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

Spend spend_of(const std::vector<nlohmann::json>& events, const std::optional<llm::Price>& price) {
  Spend spend;
  std::map<std::int64_t, double> open;  // by sample
  for (const nlohmann::json& event : events) {
    const std::string kind = text_or(event, "kind", "");
    const std::int64_t sample = integer_or(event, "sample", 0);
    if (kind == "request") open[sample] += std::max(0.0, number_or(event, "most_usd", 0.0));
    if (kind == "reply") {
      const double usd = number_or(object_in(event, "cost"), "usd", -1.0);
      // A reply whose cost nobody said is counted at the bound of its requests.
      spend.paid_usd += std::max(0.0, usd);
      if (usd >= 0) open[sample] -= std::min(open[sample], last_bound(events, sample));
    }
    if (kind != "attempt") continue;
    const nlohmann::json usage = object_in(event, "usage");
    const llm::Usage used{tokens(usage, "input_tokens"), tokens(usage, "output_tokens"), std::nullopt,
                          tokens(usage, "cached_tokens")};
    spend.paid_usd += llm::cost_usd(price, used).value_or(0.0);
    // A server that answered with an error has been paid nothing more, once nobody tries again.
    if (integer_or(event, "http_status", 0) >= 400 && number_or(event, "wait_s", 0) <= 0)
      open[sample] -= std::min(open[sample], last_bound(events, sample));
  }
  for (const auto& [sample, usd] : open) spend.open_usd += usd;
  return spend;
}

Status Budget::possible(std::optional<double> limit_usd, const std::optional<llm::Price>& price,
                        std::optional<int> max_output_tokens) {
  if (!limit_usd) return Ok{};
  if (price && max_output_tokens) return Ok{};
  const char* needs = price               ? "--max-tokens: without it a single reply has no bound"
                      : max_output_tokens ? "the model's price: add it to settings/prices.toml"
                                          : "the model's price (add it to settings/prices.toml) and --max-tokens";
  return Error{Code::kUsage, fmt::format("--budget-usd needs {}", needs)};
}

// Every task of the run; a log that has not grown is not read again.
Result<double> Budget::in_logs(const run::RunDirectory& run) {
  double usd = 0;
  for (const std::string& id : run.tasks()) {
    std::error_code failed;
    const auto bytes =
        std::filesystem::file_size(run.folder() + "/tasks/" + run::folder_of_task(id) + "/events.jsonl", failed);
    Read& read = read_[id];
    if (failed || bytes != read.bytes) {
      Result<run::Chain> chain = run.read_task(id);
      if (!chain) return chain.error();
      const Spend spend = spend_of(chain.value().events, price_);
      read = {chain.value().bytes, spend.paid_usd + spend.open_usd};
    }
    usd += read.usd;
  }
  return usd;
}

Result<MayAsk> Budget::may_ask(const llm::Request& request, const run::RunDirectory& run,
                               const std::function<bool()>& stopped) {
  const std::optional<double> bound =
      llm::cost_bound_usd(price_, llm::estimate_tokens(request.prompt), request.max_output_tokens);
  if (!limit_usd_) return MayAsk{bound, nullptr};
  Result<std::shared_ptr<void>> held = lock(run, stopped);
  if (!held) return held.error();
  const std::lock_guard<std::mutex> guard(mutex_);
  Result<double> so_far = in_logs(run);
  if (!so_far) return so_far.error();
  if (so_far.value() + bound.value_or(0.0) > *limit_usd_) {
    return Error{Code::kCancelled,
                 fmt::format("the budget of {} does not hold another request of at most {} ({} spent, "
                             "in flight or lost with a process that was killed)",
                             llm::cost_text(*limit_usd_), llm::cost_text(bound), llm::cost_text(so_far.value()))};
  }
  return MayAsk{bound, std::move(held).value()};
}

void Budget::settle(const std::string& task, const Spend& spend) {
  const std::lock_guard<std::mutex> guard(mutex_);
  spent_[task] = spend.paid_usd;
}

double Budget::spent_usd() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return sum(spent_);
}

}  // namespace kagent::suite
