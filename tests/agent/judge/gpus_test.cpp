#include "agent/judge/gpus.h"

#include <gtest/gtest.h>

namespace kagent {
namespace {

using Names = std::vector<std::string>;

TEST(Gpus, AreAllOfTheMachineUnlessTheEnvironmentSaysWhich) {
  EXPECT_EQ(visible_gpus(nullptr, 2), (Names{"0", "1"}));
  EXPECT_EQ(visible_gpus(nullptr, 0), Names{});
  EXPECT_EQ(visible_gpus("3,1", 8), (Names{"3", "1"}));
  EXPECT_EQ(visible_gpus("GPU-ab, MIG-cd", 8), (Names{"GPU-ab", "MIG-cd"}));
}

TEST(Gpus, AnEmptyOrInvalidEntryHidesWhatFollowsAsInCuda) {
  EXPECT_EQ(visible_gpus("", 8), Names{});
  EXPECT_EQ(visible_gpus("-1", 8), Names{});
  EXPECT_EQ(visible_gpus("2,-1,3", 8), Names{"2"});
}

}  // namespace
}  // namespace kagent
