// When a failed request is tried again, and after how long.
#pragma once

#include <optional>
#include <string_view>

#include "agent/llm/clock.h"

namespace kagent::llm {

struct RetryPolicy {
  int most_attempts = 6;
  double first_wait_s = 1;
  double most_wait_s = 60;          // of our own back-off
  double most_retry_after_s = 600;  // a server that asks for more is given up
};

// 408, 409, 429 and 5xx (529 is Anthropic's "overloaded"); never 400, 401, 403, 404.
bool is_transient(int http_status);

// Seconds until the time a Retry-After header names: seconds or an HTTP date (RFC 9110, all three forms). Never
// negative.
std::optional<double> retry_after_s(std::string_view header, double now_unix_s);

// Exponential with jitter: failure n waits between half and all of first_wait * 2^(n-1), at most most_wait. With
// Retry-After at least that, and up to a quarter more (at most 5 s), so that clients turned away together return apart.
double wait_s(const RetryPolicy& policy, int failures, std::optional<double> retry_after, Clock& clock);

}  // namespace kagent::llm
