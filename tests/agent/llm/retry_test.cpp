#include "agent/llm/retry.h"

#include <gtest/gtest.h>

#include "fakes.h"

namespace kagent::llm {
namespace {

TEST(Retry, TriesAgainOnlyWhatMayPass) {
  for (const int status : {408, 409, 429, 500, 502, 503, 504, 529}) EXPECT_TRUE(is_transient(status)) << status;
  for (const int status : {0, 200, 301, 400, 401, 402, 403, 404, 413, 422, 600})
    EXPECT_FALSE(is_transient(status)) << status;
}

TEST(Retry, ReadsRetryAfterInAllItsForms) {
  const double now = 784111770;  // Sun, 06 Nov 1994 08:49:30 GMT
  EXPECT_EQ(retry_after_s("12", now), 12);
  EXPECT_EQ(retry_after_s("1.5", now), 1.5);
  EXPECT_EQ(retry_after_s("Sun, 06 Nov 1994 08:49:37 GMT", now), 7);
  EXPECT_EQ(retry_after_s("Sunday, 06-Nov-94 08:49:37 GMT", now), 7);
  EXPECT_EQ(retry_after_s("Sun Nov  6 08:49:37 1994", now), 7);
  EXPECT_EQ(retry_after_s("Sun, 06 Nov 1994 08:49:00 GMT", now), 0);  // past
  for (const char* bad : {"", "soon", "-3", "nan", "inf", "12 s", "Sun, 06 Nov", "1e999"})
    EXPECT_EQ(retry_after_s(bad, now), std::nullopt) << bad;
  EXPECT_EQ(retry_after_s(std::string(1000, '9'), now), std::nullopt);
}

TEST(Retry, BacksOffExponentiallyWithJitterAndALimit) {
  FakeClock clock;
  RetryPolicy policy;
  policy.first_wait_s = 2;
  policy.most_wait_s = 10;
  clock.chance = 1;
  EXPECT_EQ(wait_s(policy, 1, {}, clock), 2);
  EXPECT_EQ(wait_s(policy, 2, {}, clock), 4);
  EXPECT_EQ(wait_s(policy, 4, {}, clock), 10);
  EXPECT_EQ(wait_s(policy, 1000, {}, clock), 10);
  clock.chance = 0;
  EXPECT_EQ(wait_s(policy, 2, {}, clock), 2);
}

TEST(Retry, NeverComesBackBeforeTheServerAsks) {
  FakeClock clock;
  const RetryPolicy policy;
  clock.chance = 0;
  EXPECT_EQ(wait_s(policy, 1, 30, clock), 30);
  clock.chance = 1;
  EXPECT_EQ(wait_s(policy, 1, 100, clock), 105);
  EXPECT_EQ(wait_s(policy, 1, 0, clock), 1);
}

}  // namespace
}  // namespace kagent::llm
