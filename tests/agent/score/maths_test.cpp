// The figures against values worked by hand.

#include <gtest/gtest.h>

#include <cmath>

#include "agent/score/bootstrap.h"
#include "agent/score/pass_at_k.h"
#include "agent/score/share.h"

namespace kagent::score {
namespace {

TEST(Share, WilsonIntervalOfHalfOfTen) {
  // z = 1.96: centre 0.5, half = 1.96 sqrt(0.025 + 0.0096036) / 1.38416 = 0.2634
  const auto interval = Share{5, 10}.interval();
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 0.2366, 1e-4);
  EXPECT_NEAR(interval->high, 0.7634, 1e-4);
}

TEST(Share, WilsonIntervalAtTheEndsStaysInsideAndIsNotEmpty) {
  // none of n: from 0 to z^2 / (n + z^2) = 3.8415 / 13.8415
  EXPECT_NEAR(Share({0, 10}).interval()->low, 0.0, 1e-12);
  EXPECT_NEAR(Share({0, 10}).interval()->high, 0.27753, 1e-5);
  EXPECT_NEAR(Share({10, 10}).interval()->low, 1 - 0.27753, 1e-5);
  EXPECT_NEAR(Share({10, 10}).interval()->high, 1.0, 1e-12);
}

TEST(Share, OfNothingHasNoInterval) {
  EXPECT_FALSE(Share({0, 0}).interval());
  EXPECT_EQ(Share({0, 0}).value(), 0);
}

TEST(PassAtK, IsOneMinusTheChanceThatAllMiss) {
  EXPECT_DOUBLE_EQ(pass_at_k(5, 2, 1), 0.4);
  EXPECT_DOUBLE_EQ(pass_at_k(5, 2, 2), 0.7);  // 1 - C(3,2)/C(5,2) = 1 - 3/10
  EXPECT_DOUBLE_EQ(pass_at_k(5, 2, 3), 0.9);  // 1 - 1/10
  EXPECT_DOUBLE_EQ(pass_at_k(5, 2, 4), 1.0);  // four draws cannot all miss
  EXPECT_DOUBLE_EQ(pass_at_k(5, 0, 5), 0.0);
  EXPECT_DOUBLE_EQ(pass_at_k(5, 5, 1), 1.0);
}

TEST(GeometricMean, OfOneTwoAndFourIsTwo) {
  const Estimate estimate = geometric_mean_of({1, 2, 4});
  EXPECT_NEAR(*estimate.value, 2.0, 1e-12);
  EXPECT_EQ(estimate.tasks, 3);
}

TEST(GeometricMean, OfNothingIsNotKnownAndOfOneTaskHasNoInterval) {
  EXPECT_FALSE(geometric_mean_of({}).value);
  EXPECT_FALSE(geometric_mean_of({3}).interval);
}

TEST(Bootstrap, IsTheSameEveryTimeAndHoldsTheMean) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const auto first = bootstrap_mean(values);
  const auto second = bootstrap_mean(values);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->low, second->low);
  EXPECT_EQ(first->high, second->high);
  // The mean's standard error is sqrt(8.25 / 10) = 0.908: about 5.5 +- 1.78.
  EXPECT_NEAR(first->low, 5.5 - 1.78, 0.15);
  EXPECT_NEAR(first->high, 5.5 + 1.78, 0.15);
}

TEST(Bootstrap, OfTwoValuesReachesBoth) {
  // Both draws the same: a chance of 1/4 each, far above 2.5%.
  const auto interval = bootstrap_mean({0, 1});
  EXPECT_EQ(interval->low, 0);
  EXPECT_EQ(interval->high, 1);
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
  EXPECT_FALSE(median_of({}));
}

}  // namespace
}  // namespace kagent::score
