#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "harness/plan/launch_check.h"
#include "tests/harness/plan/sample.h"

namespace kagent::plan {
namespace {

using testing::HasSubstr;

// The launches of the sample plan, free to be changed.
class LaunchCheckTest : public testing::Test {
 protected:
  Launch launch_ = std::get<Launch>(sample::plan().forward[sample::kBn].what);
  Kernels kernels_ = sample::kernels();
  Device device_ = sample::device();
  std::vector<Tensor> tensors_ = sample::plan().tensors;

  Kernel& bn() { return kernels_.at("bn<0>"); }
  void use_fc() { launch_ = std::get<Launch>(sample::plan().forward[sample::kFc].what); }
  void set(std::int64_t (&dims)[3], std::int64_t x, std::int64_t y, std::int64_t z) {
    dims[0] = x;
    dims[1] = y;
    dims[2] = z;
  }
  std::string reason() {
    const auto problem = check_launch(launch_, tensors_, kernels_, device_);
    return problem ? problem->kind + ": " + problem->message : "valid";
  }
};

TEST_F(LaunchCheckTest, AcceptsTheLargestGridAndRejectsOneMore) {
  launch_.cluster.reset();
  set(launch_.grid, 2147483647, 65535, 65535);
  EXPECT_EQ(reason(), "valid");
  set(launch_.grid, 2147483648, 1, 1);
  EXPECT_THAT(reason(), HasSubstr("grid x is 2147483648, must be 1 to 2147483647"));
  set(launch_.grid, 1, 65536, 1);
  EXPECT_THAT(reason(), HasSubstr("grid y is 65536, must be 1 to 65535: put the long dimension into x"));
  set(launch_.grid, 1, 1, 65536);
  EXPECT_THAT(reason(), HasSubstr("grid z is 65536"));
  set(launch_.grid, 0, 1, 1);
  EXPECT_THAT(reason(), HasSubstr("grid x is 0"));
}

TEST_F(LaunchCheckTest, HoldsBlocksToTheDeviceAndToTheKernel) {
  bn().max_threads = 1024;
  for (const auto& [x, y, z, ok] : {std::tuple{1024, 1, 1, true},
                                    {1025, 1, 1, false},
                                    {1, 1024, 1, true},
                                    {1, 1, 64, true},
                                    {1, 1, 65, false},
                                    {32, 32, 1, true},
                                    {32, 32, 2, false}}) {
    set(launch_.block, x, y, z);
    EXPECT_EQ(reason() == "valid", ok) << x << " " << y << " " << z << ": " << reason();
  }
  bn().max_threads = 256;
  set(launch_.block, 257, 1, 1);
  EXPECT_THAT(reason(), HasSubstr("a block of 257 threads is over this kernel's limit of 256"));
  set(launch_.block, 2147483647, 2147483647, 2147483647);  // the product does not fit 64 bits
  EXPECT_THAT(reason(), HasSubstr("block x is 2147483647"));
}

TEST_F(LaunchCheckTest, HoldsRegistersToTheSm) {
  bn().max_threads = 1024;
  bn().registers = 64;
  set(launch_.block, 1024, 1, 1);
  EXPECT_EQ(reason(), "valid");
  bn().registers = 65;  // 72 after rounding: 73,728 registers
  EXPECT_THAT(reason(), HasSubstr("65 registers a thread times 1024 threads exceed"));
}

TEST_F(LaunchCheckTest, CountsStaticAndDynamicSharedMemoryTogether) {
  bn().static_shared_bytes = 1024;
  launch_.shared_bytes = 232448 - 1024;
  EXPECT_EQ(reason(), "valid");
  launch_.shared_bytes += 1;
  EXPECT_THAT(reason(),
              HasSubstr("232449 bytes of shared memory (1024 static + 231425 dynamic), a block can have 232448"));
  launch_.shared_bytes = 0;
  bn().static_shared_bytes = 49152;
  EXPECT_EQ(reason(), "valid");
  bn().static_shared_bytes = 65536;
  EXPECT_THAT(reason(), HasSubstr("use extern __shared__"));
}

TEST_F(LaunchCheckTest, HoldsClustersToTheirRules) {
  set(launch_.grid, 8, 4, 1);
  launch_.cluster = {{8, 1, 1}};
  EXPECT_EQ(reason(), "valid");
  launch_.cluster = {{4, 4, 1}};
  EXPECT_THAT(reason(), HasSubstr("a cluster of 16 blocks, at most 8 are portable"));
  launch_.cluster = {{16, 1, 1}};
  EXPECT_THAT(reason(), HasSubstr("at most 8 blocks are portable"));
  launch_.cluster = {{3, 1, 1}};
  EXPECT_THAT(reason(), HasSubstr("grid [8, 4, 1] is no multiple of cluster [3, 1, 1]"));
  device_.max_cluster = 1;
  launch_.cluster = {{2, 1, 1}};
  EXPECT_THAT(reason(), HasSubstr("at most 1 blocks"));
}

TEST_F(LaunchCheckTest, AClusterMustBeTheOneTheKernelWasCompiledFor) {
  bn().required_cluster = {{2, 1, 1}};
  EXPECT_EQ(reason(), "valid");
  launch_.cluster.reset();  // the kernel's own holds
  EXPECT_EQ(reason(), "valid");
  set(launch_.grid, 7, 1, 1);
  EXPECT_THAT(reason(), HasSubstr("grid [7, 1, 1] is no multiple of cluster [2, 1, 1]"));
  set(launch_.grid, 8, 1, 1);
  launch_.cluster = {{4, 1, 1}};
  EXPECT_THAT(reason(), HasSubstr("differs from its __cluster_dims__ [2, 1, 1]"));
}

TEST_F(LaunchCheckTest, ACooperativeGridMustFitTheDeviceAtOnce) {
  use_fc();  // 128 registers x 128 threads: 4 blocks an SM
  set(launch_.grid, 528, 1, 1);
  EXPECT_EQ(reason(), "valid");
  set(launch_.grid, 529, 1, 1);
  EXPECT_THAT(reason(), HasSubstr("a cooperative grid of 529 blocks, but only 528 run at a time (4 an SM, 132 SMs)"));
  launch_.shared_bytes = 100 << 10;  // now shared memory allows 2
  set(launch_.grid, 265, 1, 1);
  EXPECT_THAT(reason(), HasSubstr("only 264 run at a time"));
  launch_.shared_bytes = 0;
  launch_.cluster = {{5, 1, 1}};
  set(launch_.grid, 525, 1, 1);
  EXPECT_EQ(reason(), "valid");
  set(launch_.grid, 530, 1, 1);
  EXPECT_THAT(reason(), HasSubstr("only 525 run at a time"));
  launch_.cluster.reset();
  set(launch_.grid, 2147483647, 65535, 65535);  // the product does not fit 64 bits
  EXPECT_THAT(reason(), HasSubstr("only 528 run at a time"));
}

TEST_F(LaunchCheckTest, ANonDenseViewMustBeMarked) {
  use_fc();
  std::get<TensorRef>(launch_.args[0].data).strided = false;
  EXPECT_THAT(reason(),
              HasSubstr("bad_argument: kernel \"fc\": argument 0 is a non-dense view (float32 tensor of shape "
                        "[2, 128] and stride [256, 1])"));
  EXPECT_THAT(reason(), HasSubstr("kg.strided(t)"));
}

TEST_F(LaunchCheckTest, ANonDenseViewInsideAnArrayMustBeMarked) {
  auto& array = std::get<Array>(launch_.args[6].data);
  array.items[0].data = TensorRef{10, false};
  EXPECT_THAT(reason(), HasSubstr("argument 6 is a non-dense view"));
  array.items[0].data = TensorRef{10, true};
  EXPECT_EQ(reason(), "valid");
}

TEST_F(LaunchCheckTest, APermutedTensorIsDenseAndABroadcastOneIsNot) {
  use_fc();
  launch_.args[0].data = TensorRef{7, false};
  tensors_[7].stride = {256, 1, 32, 4};  // channels-last
  EXPECT_EQ(reason(), "valid");
  tensors_[7].stride = {0, 64, 8, 1};
  EXPECT_THAT(reason(), HasSubstr("non-dense"));
  tensors_[7].shape = {1, 4, 8, 8};  // a dimension of 1 has no stride to speak of
  EXPECT_EQ(reason(), "valid");
}

TEST_F(LaunchCheckTest, APointersTypeMustBeTheTensors) {
  tensors_[7].dtype = "float16";
  EXPECT_THAT(reason(), HasSubstr("argument 0 is a float16 tensor, the parameter points to float"));
  bn().params[0].pointee = "__half";
  EXPECT_EQ(reason(), "valid");
  bn().params[0].pointee = "MyType";
  EXPECT_EQ(reason(), "valid");
}

TEST(PointerReads, KnowsCudasTypes) {
  for (const auto& [pointee, dtype] : {std::pair{"float", "float32"},
                                       {"float4", "float32"},
                                       {"float4", "float16"},
                                       {"double", "float64"},
                                       {"long long", "int64"},
                                       {"long", "int64"},
                                       {"int", "int32"},
                                       {"__half", "float16"},
                                       {"__half2", "float16"},
                                       {"__nv_bfloat16", "bfloat16"},
                                       {"unsigned char", "uint8"},
                                       {"bool", "bool"},
                                       {"unsigned char", "bool"},
                                       {"unsigned int", "float32"},
                                       {"int4", "float16"},
                                       {"uint4", "int64"},
                                       {"", "bool"},
                                       {"void", "float64"}}) {
    EXPECT_TRUE(pointer_reads(pointee, dtype)) << pointee << " " << dtype;
  }
  for (const auto& [pointee, dtype] : {std::pair{"float", "float64"},
                                       {"float", "int32"},
                                       {"int", "int64"},
                                       {"long long", "int32"},
                                       {"__half", "bfloat16"},
                                       {"double", "float32"},
                                       {"float4", "float64"},
                                       {"unsigned int", "int64"},
                                       {"bool", "float32"}}) {
    EXPECT_FALSE(pointer_reads(pointee, dtype)) << pointee << " " << dtype;
  }
}

TEST_F(LaunchCheckTest, WritesToWhatNoConstPointerNames) {
  launch_.args = {Value{TensorRef{3}}, Value{TensorRef{5}}, Value{TensorRef{7}}};
  bn().params.resize(3);
  for (Param& param : bn().params) {
    param.kind = Param::Kind::kPointer;
    param.size = 8;
    param.align = 8;
  }
  bn().params[0].is_const = true;
  bn().params[1].is_const = false;
  bn().params[2].is_const = std::nullopt;
  EXPECT_EQ(written_by(launch_, kernels_), (std::vector<TensorId>{5, 7}));
  kernels_.clear();
  EXPECT_EQ(written_by(launch_, kernels_), (std::vector<TensorId>{3, 5, 7}));
}

}  // namespace
}  // namespace kagent::plan
