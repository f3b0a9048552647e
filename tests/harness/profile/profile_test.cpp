#include "harness/profile/profile.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace kagent::profile {
namespace {

Kernel kernel(const char* name, int step, std::uint64_t start_ns, std::uint64_t end_ns) {
  return {name, start_ns, end_ns, step, 0, 0, 0};
}

TEST(Table, SumsByNameAndStepLargestFirst) {
  const auto rows =
      table({kernel("a", 1, 0, 1'000'000), kernel("b", 2, 0, 6'000'000), kernel("a", 1, 0, 1'000'000)}, 1);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "b");
  EXPECT_DOUBLE_EQ(rows[0].share, 0.75);
  EXPECT_EQ(rows[1].count, 2);
  EXPECT_DOUBLE_EQ(rows[1].total_ms, 2.0);
}

TEST(Table, GivesFiguresOfOneCall) {
  const auto rows = table({kernel("a", 0, 0, 3'000'000), kernel("a", 0, 0, 1'000'000)}, 2);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].count, 1);
  EXPECT_DOUBLE_EQ(rows[0].total_ms, 2.0);
  EXPECT_DOUBLE_EQ(rows[0].share, 1.0);
}

TEST(Table, SurvivesATimeThatRunsBackwards) {
  const auto rows = table({kernel("a", 0, 5, 3)}, 1);
  EXPECT_DOUBLE_EQ(rows.at(0).total_ms, 0.0);
  EXPECT_DOUBLE_EQ(rows.at(0).share, 0.0);
}

TEST(ReadableName, DemanglesAndDropsParameters) {
  EXPECT_EQ(readable_name("_Z2bnILi0EEvPKfPf"), "bn<0>");
  EXPECT_EQ(readable_name("my_kernel"), "my_kernel");
}

TEST(ReadableName, CutsNestedTemplatesAndControlCharacters) {
  // void f<std::vector<int> >(int)
  EXPECT_EQ(readable_name("_Z1fISt6vectorIiSaIiEEEvi"), "f<std::vector<> >");
  EXPECT_EQ(readable_name("a\nb"), "a b");
  EXPECT_LE(readable_name(std::string(5000, 'x')).size(), 160U);
}

TEST(Profile, StepsOutsideARecordingAreIgnored) {
  begin_step(3);
  end_step();
  EXPECT_EQ(stop().error, "no profile is being recorded");
}

TEST(Profile, WithoutAGpuSaysWhyOrRecordsNothing) {
  if (::access("/dev/nvidiactl", F_OK) == 0) GTEST_SKIP() << "this machine has a GPU";
  const std::string reason = start();
  if (reason.empty()) {
    EXPECT_TRUE(stop().kernels.empty());
  } else {
    EXPECT_NE(reason.find("CUPTI is not usable here"), std::string::npos) << reason;
  }
}

}  // namespace
}  // namespace kagent::profile
