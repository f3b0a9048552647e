#include "harness/execute/guards.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kagent::execute {
namespace {

const c10::Device kCpu(c10::kCPU);

TEST(Guards, KeepATensorsNumbersAndSeeWritesOnEitherSide) {
  const at::Tensor x = at::rand({5, 7}).t();
  for (const int at : {-1, 35, -16384, 35 + 16383}) {
    Guards guards(GuardFill::kLarge, kCpu);
    const at::Tensor y = guards.enclose(x, "x");
    EXPECT_TRUE(at::equal(x, y));
    EXPECT_EQ(x.strides(), y.strides());
    EXPECT_FALSE(guards.broken().has_value());
    y.mutable_data_ptr<float>()[at] = 0;
    ASSERT_TRUE(guards.broken().has_value()) << at;
    EXPECT_EQ(*guards.broken(), at < 0 ? "before the start of x" : "past the end of x");
  }
}

TEST(Guards, HoldNumbersOfOneSignAndSizeThatCannotBeKnown) {
  const at::Tensor x = at::rand({3});
  const auto beside = [&](GuardFill fill, int at) {
    Guards guards(fill, kCpu);
    const at::Tensor y = guards.enclose(x, "x");
    return y.mutable_data_ptr<float>()[at];
  };
  for (const int at : {-1, -2, 3, 4}) {
    const float large = beside(GuardFill::kLarge, at);
    const float small = beside(GuardFill::kSmall, at);
    EXPECT_GE(large, std::ldexp(1.0F, 33));
    EXPECT_LT(large, std::ldexp(1.0F, 65));
    EXPECT_LT(small, 0);
    EXPECT_GT(small, -std::ldexp(1.0F, -60));
    EXPECT_NE(large, beside(GuardFill::kLarge, at));
  }
}

TEST(Guards, AnyNumberOfBytesMayLieBetweenThem) {
  for (const std::int64_t size : {0, 1, 3, 13}) {
    Guards guards(GuardFill::kSmall, kCpu);
    const at::Tensor y = guards.enclose(at::rand({size}).to(c10::kByte), "x");
    EXPECT_FALSE(guards.broken().has_value());
    y.mutable_data_ptr<std::uint8_t>()[size] ^= 1U;
    EXPECT_TRUE(guards.broken().has_value());
  }
}

}  // namespace
}  // namespace kagent::execute
