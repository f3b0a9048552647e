#include <gtest/gtest.h>

#include "agent/score/bootstrap.h"
#include "agent/score/pass_at_k.h"
#include "agent/score/share.h"

namespace kagent::score {
namespace {

TEST(PassAtK, IsTheChanceThatADrawWithoutReplacementHits) {
  EXPECT_DOUBLE_EQ(pass_at_k(5, 0, 3), 0);
  EXPECT_DOUBLE_EQ(pass_at_k(5, 2, 1), 0.4);
  EXPECT_DOUBLE_EQ(pass_at_k(5, 2, 3), 0.9);  // 1 - C(3,3) / C(5,3)
  EXPECT_DOUBLE_EQ(pass_at_k(5, 3, 3), 1);    // three draws cannot all miss
  EXPECT_DOUBLE_EQ(pass_at_k(5, 1, 5), 1);
}

TEST(Share, HasWilsonsInterval) {
  const Interval half = *Share{25, 50}.interval();
  EXPECT_NEAR(half.low, 0.3664, 5e-5);
  EXPECT_NEAR(half.high, 0.6336, 5e-5);
  const Interval none = *Share{0, 10}.interval();
  EXPECT_DOUBLE_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.2775, 5e-5);
  EXPECT_FALSE((Share{0, 0}.interval()));
}

TEST(GeometricMean, IsOfRatiosAndItsIntervalHoldsIt) {
  const Estimate mean = geometric_mean_of({0.5, 2, 8});
  EXPECT_DOUBLE_EQ(*mean.value, 2);
  EXPECT_LT(mean.interval->low, 2);
  EXPECT_GT(mean.interval->high, 2);
  EXPECT_GE(mean.interval->low, 0.5);
  EXPECT_LE(mean.interval->high, 8);
  EXPECT_FALSE(geometric_mean_of({}).value);
  EXPECT_FALSE(geometric_mean_of({3}).interval);
}

TEST(Bootstrap, GivesOneLogOneInterval) {
  const auto a = bootstrap_mean({1, 2, 3, 4});
  const auto b = bootstrap_mean({1, 2, 3, 4});
  EXPECT_EQ(a->low, b->low);
  EXPECT_EQ(a->high, b->high);
  const auto same = bootstrap_mean({7, 7, 7});
  EXPECT_DOUBLE_EQ(same->low, 7);
  EXPECT_DOUBLE_EQ(same->high, 7);
}

TEST(Median, OfAnEvenNumberIsBetweenTheTwoInTheMiddle) {
  EXPECT_DOUBLE_EQ(*median_of({9, 1, 3}), 3);
  EXPECT_DOUBLE_EQ(*median_of({9, 1, 3, 5}), 4);
  EXPECT_FALSE(median_of({}));
}

}  // namespace
}  // namespace kagent::score
