// What a run leaves on the chip and in free memory is gone after a scrub. On a GPU each kind is planted first, and
// looked for again.
#include "harness/execute/scrub.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "harness/execute/driver.h"
#include "tests/harness/execute/plans.h"

namespace kagent::execute {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint32_t kMagic = 0x600df00d;
constexpr std::uint32_t kNan = 0x7fc00000;
constexpr int kWords = 256;          // of local memory, a thread
constexpr int kSharedBytes = 40960;  // a block

TEST(ScrubPtx, HasAKernelForLocalMemoryOnlyWhereItIsUsed) {
  EXPECT_THAT(scrub_ptx(0), Not(HasSubstr("kagent_scrub_local")));
  EXPECT_THAT(scrub_ptx(100), HasSubstr(".b8 deep[112]"));  // whole vectors
}

// ptxas is the driver's compiler: what it takes here the driver takes there.
TEST(ScrubPtx, UsesAllRegistersAndTheAskedLocalMemory) {
  if (std::system("ptxas --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "needs ptxas";
  const std::string base = testing::TempDir() + "kagent_scrub_" + std::to_string(::getpid());
  std::ofstream(base + ".ptx") << scrub_ptx(1024);
  for (const char* arch : {"sm_80", "sm_90a", "sm_120"}) {
    const std::string command =
        std::string("ptxas -v -arch=") + arch + " " + base + ".ptx -o /dev/null > " + base + ".log 2>&1";
    const bool taken = std::system(command.c_str()) == 0;
    std::ifstream in(base + ".log");
    const std::string log{std::istreambuf_iterator<char>(in), {}};
    ASSERT_TRUE(taken) << arch << ": " << log;
    EXPECT_THAT(log, testing::ContainsRegex("Used 2(4[0-9]|5[0-5]) registers")) << log;
    EXPECT_THAT(log, HasSubstr("1024 bytes stack frame, 0 bytes spill stores")) << log;
  }
  for (const char* end : {".ptx", ".log"}) std::remove((base + end).c_str());
}

// plant_*: every word is `value`. look_*: counts, in out[0], the words that are `value`, and writes nothing before.
constexpr const char* kPtx = R"(.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 block[];
.visible .entry plant_local(.param .u32 value, .param .u64 out)
.maxntid 512, 1, 1
{
  .local .align 16 .b8 deep[1024];
  .reg .pred p;
  .reg .b32 v;
  .reg .b64 at, stop, begun, now;
  ld.param.u32 v, [value];
  mov.u64 begun, %clock64;
  mov.u64 at, deep;
  cvta.local.u64 at, at;
  add.u64 stop, at, 1024;
fill:
  st.volatile.u32 [at], v;
  add.u64 at, at, 4;
  setp.lt.u64 p, at, stop;
  @p bra fill;
linger:
  mov.u64 now, %clock64;
  sub.u64 now, now, begun;
  setp.lt.u64 p, now, 16000;
  @p bra linger;
  ret;
}
.visible .entry look_local(.param .u32 value, .param .u64 out)
.maxntid 512, 1, 1
{
  .local .align 16 .b8 deep[1024];
  .reg .pred p;
  .reg .b32 v, got, n;
  .reg .b64 at, stop, begun, now, to;
  ld.param.u32 v, [value];
  ld.param.u64 to, [out];
  mov.u64 begun, %clock64;
  mov.u64 at, deep;
  cvta.local.u64 at, at;
  add.u64 stop, at, 1024;
  mov.u32 n, 0;
look:
  ld.volatile.u32 got, [at];
  setp.eq.u32 p, got, v;
  @p add.u32 n, n, 1;
  add.u64 at, at, 4;
  setp.lt.u64 p, at, stop;
  @p bra look;
  red.global.add.u32 [to], n;
linger:
  mov.u64 now, %clock64;
  sub.u64 now, now, begun;
  setp.lt.u64 p, now, 16000;
  @p bra linger;
  ret;
}
.visible .entry plant_shared(.param .u32 value, .param .u64 out)
.maxntid 512, 1, 1
{
  .reg .pred p;
  .reg .b32 v, at, end;
  ld.param.u32 v, [value];
  mov.u32 at, %tid.x;
  shl.b32 at, at, 2;
  mov.u32 end, block;
  add.u32 at, at, end;
  add.u32 end, end, 40960;
fill:
  st.volatile.shared.u32 [at], v;
  add.u32 at, at, 2048;
  setp.lt.u32 p, at, end;
  @p bra fill;
  ret;
}
.visible .entry look_shared(.param .u32 value, .param .u64 out)
.maxntid 512, 1, 1
{
  .reg .pred p;
  .reg .b32 v, at, end, got, n;
  .reg .b64 to;
  ld.param.u32 v, [value];
  ld.param.u64 to, [out];
  mov.u32 at, %tid.x;
  shl.b32 at, at, 2;
  mov.u32 end, block;
  add.u32 at, at, end;
  add.u32 end, end, 40960;
  mov.u32 n, 0;
look:
  ld.volatile.shared.u32 got, [at];
  setp.eq.u32 p, got, v;
  @p add.u32 n, n, 1;
  add.u32 at, at, 2048;
  setp.lt.u32 p, at, end;
  @p bra look;
  red.global.add.u32 [to], n;
  ret;
}
)";

class ScrubOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!plans::has_gpu()) GTEST_SKIP() << "needs a GPU";
    count_ = at::zeros({1}, at::TensorOptions().device(plans::gpu()).dtype(at::kInt));
    module_ = std::make_unique<KernelModule>(kPtx);
  }
  static CUstream stream() { return c10::cuda::getCurrentCUDAStream(plans::gpu().index()).stream(); }

  // Launches plant_`kind` or look_`kind`; what look counted.
  long run(const std::string& kernel, std::uint32_t value, int blocks, int shared_bytes) {
    count_.zero_();
    auto out = reinterpret_cast<std::uint64_t>(count_.data_ptr());
    void* params[] = {&value, &out};
    CUlaunchConfig config = {};
    config.gridDimX = static_cast<unsigned>(blocks);
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = 512;
    config.sharedMemBytes = static_cast<unsigned>(shared_bytes);
    config.hStream = stream();
    check(driver().launch(&config, module_->function(kernel, shared_bytes), params, nullptr), kernel.c_str());
    return count_.cpu().item<int>();
  }

  at::Tensor count_;
  std::unique_ptr<KernelModule> module_;
};

TEST_F(ScrubOnGpu, NothingIsLeftInLocalMemory) {
  Scrub scrub(plans::gpu(), kWords * 4);
  const int blocks = 4 * scrub.multiprocessors();
  const double all = 512.0 * blocks * kWords;
  run("plant_local", kMagic, blocks, 0);
  const long left = run("look_local", kMagic, blocks, 0);
  std::printf("local memory: %.1f%% of what a kernel wrote is there at the next launch\n", 100 * left / all);
  RecordProperty("left_before_scrub", static_cast<int>(100 * left / all));
  run("plant_local", kMagic, blocks, 0);
  scrub.run(kNan, stream());
  EXPECT_EQ(run("look_local", kMagic, blocks, 0), 0);
  scrub.run(kNan, stream());
  std::printf("local memory: %.1f%% holds the scrub's word\n", 100 * run("look_local", kNan, blocks, 0) / all);
}

TEST_F(ScrubOnGpu, NothingIsLeftInSharedMemory) {
  Scrub scrub(plans::gpu(), 0);
  const int blocks = 2 * scrub.multiprocessors();
  const double all = 1.0 * kSharedBytes / 4 * blocks;
  run("plant_shared", kMagic, 20 * blocks, kSharedBytes);
  const long left = run("look_shared", kMagic, blocks, kSharedBytes);
  std::printf("shared memory: %.1f%% of what a kernel wrote is there at the next launch\n", 100 * left / all);
  EXPECT_GT(left, 0) << "nothing to scrub: this test shows nothing here";
  run("plant_shared", kMagic, 20 * blocks, kSharedBytes);
  scrub.run(kNan, stream());
  EXPECT_EQ(run("look_shared", kMagic, blocks, kSharedBytes), 0);
}

TEST_F(ScrubOnGpu, FreeMemoryAndWhatLiesBehindATensorIsFilledAndNothingElse) {
  const auto options = at::TensorOptions().device(plans::gpu()).dtype(at::kInt);
  const at::Tensor held = at::full({1001}, 7, options);  // 4004 bytes in a block of 4096
  void* freed = nullptr;
  {
    const at::Tensor gone = at::full({5000000}, 7, options);
    freed = gone.data_ptr();
  }
  fill_free_memory(plans::gpu(), kNan, stream());
  EXPECT_TRUE(held.eq(7).all().item<bool>());
  const auto word_at = [&](void* begin, int word) {
    return static_cast<std::uint32_t>(at::from_blob(static_cast<int*>(begin) + word, {1}, options).cpu().item<int>());
  };
  const std::uint32_t words[] = {word_at(freed, 0), word_at(freed, 4999999), word_at(held.data_ptr(), 1001)};
  for (const std::uint32_t word : words) EXPECT_EQ(word, kNan);
}

// A graph's outputs and scratch are its own; results are right, and stay what they were, whatever those are filled
// with.
TEST_F(ScrubOnGpu, AGraphGivesTheSameAfterIt) {
  for (const bool graph : {true, false}) {
    const plans::Row row{{4, 64}, {64, 1}};
    const auto op = [](const char* name, const char* args, int result) {
      return std::string(R"({"op": ")") + name + R"(", "args": )" + args + R"(, "kwargs": {}, "results": [{"t": )" +
             std::to_string(result) + R"(}], "line": 1})";
    };
    const plans::Parts parts = {.tensors = {row, row, row},
                                .forward = "[" + op("aten::empty_like", R"([{"t": 0}])", 1) + "," +
                                           plans::scale_launch(0, 1, 3, 256) + "," +
                                           op("aten::relu", R"([{"t": 1}])", 2) + "]",
                                .outputs = R"({"t": 2})",
                                .graph = graph};
    const auto executor = plans::executor(parts, plans::gpu());
    executor->bind({}, {}, {});
    executor->prepare();
    std::vector<std::pair<at::Tensor, at::Tensor>> all;
    for (int call = 0; call < 4; ++call) {
      executor->scrub(call % 2 == 0 ? Poison::kNan : Poison::kHuge);
      const at::Tensor x = at::randn({4, 64}, at::TensorOptions().device(plans::gpu()));
      all.emplace_back(executor->run({x}).at(0), (3 * x).relu());
    }
    for (const auto& [got, wanted] : all) EXPECT_TRUE(got.equal(wanted)) << graph;
  }
}

}  // namespace
}  // namespace kagent::execute
