#include "agent/judge/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kagent {
namespace {

TEST(Summarise, TakesMeanMedianAndMinimumOverAllBursts) {
  const Summary s = summarise({{1.0, 2.0}, {3.0, 10.0}});
  EXPECT_DOUBLE_EQ(s.mean_ms, 4.0);
  EXPECT_DOUBLE_EQ(s.median_ms, 2.5);
  EXPECT_DOUBLE_EQ(s.min_ms, 1.0);
  EXPECT_EQ(s.runs, 4);
}

TEST(Summarise, TakesTheMiddleOfAnOddNumberOfRuns) { EXPECT_DOUBLE_EQ(summarise({{5.0, 1.0, 3.0}}).median_ms, 3.0); }

TEST(RatioOf, OfIdenticalBurstsIsExact) {
  const auto r = ratio_of({{4.0, 4.0}, {4.0}}, {{2.0}, {2.0, 2.0}});
  ASSERT_TRUE(r);
  EXPECT_DOUBLE_EQ(r->ratio, 2.0);
  EXPECT_DOUBLE_EQ(r->low, 2.0);
  EXPECT_DOUBLE_EQ(r->high, 2.0);
  EXPECT_EQ(r->pairs, 2);
}

TEST(RatioOf, HasStudentsIntervalOnTheLogarithms) {
  // Ratios 1 and e: mean log 0.5, deviation sqrt(0.5), t(0.975, 1) = 12.706, half width 12.706 * 0.7071 / 1.4142
  // = 6.353.
  const auto r = ratio_of({{1.0}, {std::exp(1.0)}}, {{1.0}, {1.0}});
  ASSERT_TRUE(r);
  EXPECT_NEAR(std::log(r->low), 0.5 - 6.353, 1e-3);
  EXPECT_NEAR(std::log(r->high), 0.5 + 6.353, 1e-3);
}

TEST(RatioOf, CancelsADriftThatBothSidesShare) {
  std::vector<Burst> base;
  std::vector<Burst> mine;
  for (int i = 0; i < 10; ++i) {
    const double clock = 1.0 + 0.05 * i;
    base.push_back({2.0 * clock});
    mine.push_back({1.0 * clock});
  }
  const auto r = ratio_of(base, mine);
  ASSERT_TRUE(r);
  EXPECT_NEAR(r->low, 2.0, 1e-9);
  EXPECT_NEAR(r->high, 2.0, 1e-9);
}

TEST(RatioOf, NeedsTwoPairs) {
  EXPECT_FALSE(ratio_of({{1.0}}, {{1.0}}));
  EXPECT_FALSE(ratio_of({}, {}));
  EXPECT_FALSE(ratio_of({{1.0}, {}}, {{1.0}, {1.0}}));
}

TEST(Statistics, ABaselineOfFewerBurstsIsHeldAgainstThoseBesideIt) {
  const auto r = ratio_of({{4.0}, {4.0}}, {{2.0}, {2.0}, {100.0}});
  ASSERT_TRUE(r);
  EXPECT_DOUBLE_EQ(r->ratio, 2.0);
  EXPECT_EQ(r->pairs, 2);
}

TEST(BurstsNeeded, FollowsTheSpreadOfTheBaseline) {
  EXPECT_EQ(bursts_needed({{10.0}, {10.0}, {10.0}}, 0.02, 8, 40), 8);
  // Means 9 and 11: deviation sqrt(2), n = (2 * 1.96 * 1.41421 / (0.1 * 10))^2 = 30.7.
  EXPECT_EQ(bursts_needed({{9.0}, {11.0}}, 0.1, 8, 40), 31);
  EXPECT_EQ(bursts_needed({{5.0}, {15.0}}, 0.02, 8, 40), 40);
  EXPECT_EQ(bursts_needed({{5.0}}, 0.02, 8, 40), 8);
}

}  // namespace
}  // namespace kagent
