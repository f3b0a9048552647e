#include "agent/llm/retry.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <string>

namespace kagent::llm {

bool is_transient(int http_status) {
  return http_status == 408 || http_status == 409 || http_status == 429 || (http_status >= 500 && http_status <= 599);
}

std::optional<double> retry_after_s(std::string_view header, double now_unix_s) {
  if (header.empty() || header.size() > 64) return std::nullopt;
  double seconds = 0;
  const auto [end, failed] = std::from_chars(header.data(), header.data() + header.size(), seconds);
  if (failed == std::errc() && end == header.data() + header.size()) {
    if (!std::isfinite(seconds) || seconds < 0) return std::nullopt;
    return seconds;
  }
  const std::string text(header);
  for (const char* format : {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
    std::tm date{};
    const char* rest = ::strptime(text.c_str(), format, &date);
    if (rest == nullptr || *rest != '\0') continue;
    return std::max(0.0, static_cast<double>(::timegm(&date)) - now_unix_s);
  }
  return std::nullopt;
}

double wait_s(const RetryPolicy& policy, int failures, std::optional<double> retry_after, Clock& clock) {
  const double doubled = policy.first_wait_s * std::pow(2.0, std::clamp(failures - 1, 0, 30));
  const double own = std::min(doubled, policy.most_wait_s) * (0.5 + 0.5 * clock.random());
  if (!retry_after) return own;
  return std::max(own, *retry_after + std::min(5.0, 0.25 * *retry_after) * clock.random());
}

}  // namespace kagent::llm
