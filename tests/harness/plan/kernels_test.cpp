#include "harness/plan/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/plan/sample.h"

namespace kagent::plan {
namespace {

using sample::Json;
using testing::HasSubstr;

template <typename T>
std::string reason(const std::variant<T, Problem>& result) {
  const auto* problem = std::get_if<Problem>(&result);
  return problem != nullptr ? problem->kind + ": " + problem->message : "read";
}

TEST(Kernels, AreReadFromTheCompilersAnswer) {
  const Kernels kernels = sample::kernels();
  ASSERT_EQ(kernels.size(), 2U);
  const Kernel& bn = kernels.at("bn<0>");
  EXPECT_TRUE(bn.mangled);
  EXPECT_EQ(bn.params.at(0).pointee, "float");
  EXPECT_EQ(bn.params.at(0).is_const, true);
  EXPECT_EQ(bn.params.at(3).is_const, false);
  EXPECT_EQ(bn.params.at(6).kind, Param::Kind::kStruct);
  EXPECT_EQ(bn.static_shared_bytes, 1024);
  EXPECT_EQ(bn.max_threads, 256);
  EXPECT_EQ(kernels.at("fc").params.at(0).is_const, std::nullopt);
}

TEST(Kernels, ReadARequiredCluster) {
  Json root = Json::parse(sample::kernels_text());
  root["fc"]["required_cluster"] = {4, 2, 1};
  const auto result = read_kernels(root.dump());
  ASSERT_EQ(reason(result), "read");
  EXPECT_EQ(std::get<Kernels>(result).at("fc").required_cluster, (std::array<std::int64_t, 3>{4, 2, 1}));
}

TEST(Kernels, WrongFactsAreNamed) {
  EXPECT_THAT(reason(read_kernels("[]")), HasSubstr("bad_facts"));
  EXPECT_THAT(reason(read_kernels("{")), HasSubstr("bad_facts"));
  EXPECT_THAT(reason(read_kernels(R"({"k": 3})")), HasSubstr("bad_facts"));
  for (const char* key : {"symbol", "params", "registers", "static_shared_bytes", "max_threads"}) {
    Json root = Json::parse(sample::kernels_text());
    root["fc"].erase(key);
    EXPECT_THAT(reason(read_kernels(root.dump())), HasSubstr(key));
  }
  Json root = Json::parse(sample::kernels_text());
  root["fc"]["params"][0]["kind"] = "reference";
  EXPECT_THAT(reason(read_kernels(root.dump())), HasSubstr("\"reference\""));
}

TEST(DeviceFacts, AreReadAndNamedWhenMissing) {
  const Device device = sample::device();
  EXPECT_EQ(device.name, "NVIDIA H200");
  EXPECT_EQ(device.sm_count, 132);
  EXPECT_EQ(device.max_cluster, 8);
  Json root = Json::parse(sample::device_text());
  root["sm_count"] = 0;
  EXPECT_THAT(reason(read_device(root.dump())), HasSubstr("sm_count"));
}

// Worked by hand from CUDA's rules for compute capability 9.0.
TEST(Occupancy, FollowsThreadsRegistersSharedMemoryAndBlocks) {
  const Device h200 = sample::device();
  struct Case {
    std::int64_t registers, threads, shared, blocks;
  };
  const Case cases[] = {
      {32, 256, 0, 8},       // 2048 threads
      {16, 32, 0, 32},       // 32 blocks
      {255, 256, 0, 1},      // 8192 registers a warp, 2 warps a partition
      {128, 128, 0, 4},      // 4096 a warp, 4 warps a partition
      {40, 96, 0, 16},       // 1280 a warp, 12 warps a partition: 48 warps, 3 a block
      {168, 384, 0, 1},      // 5376 a warp, 3 a partition: 12 warps
      {64, 1024, 0, 1},      // 65536 registers exactly
      {65, 1024, 0, 0},      // 72 after rounding
      {32, 128, 232448, 1},  // all shared memory
      {32, 128, 232449, 0},  // one byte more
      {32, 128, 115712, 2},  // (115712 + 1024) * 2 is all of it
      {32, 128, 115713, 1},  // rounds up to 128 more
      {32, 33, 0, 32},       // 2 warps: blocks limit
      {0, 2048, 0, 1},       // no register count: threads only
  };
  for (const Case& c : cases) {
    EXPECT_EQ(blocks_per_sm(h200, c.registers, c.threads, c.shared), c.blocks)
        << c.registers << " registers, " << c.threads << " threads, " << c.shared << " bytes";
  }
}

}  // namespace
}  // namespace kagent::plan
