#include "harness/plan/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tests/harness/plan/sample.h"

namespace kagent::plan {
namespace {

using testing::HasSubstr;
using Kind = Param::Kind;

template <typename T>
T read(const PackedArg& arg, std::size_t offset = 0) {
  T value{};
  std::memcpy(&value, arg.bytes.data() + offset, sizeof value);
  return value;
}

Packed pack_one(Value value, Kind kind, std::int64_t size, std::int64_t align = 0) {
  Launch launch;
  launch.kernel = "k";
  launch.args.push_back(std::move(value));
  Kernel kernel;
  kernel.params.push_back({kind, size, align == 0 ? size : align, "", std::nullopt});
  return pack(launch, kernel);
}

std::string reason(const Packed& packed) {
  const auto* problem = std::get_if<Problem>(&packed);
  return problem != nullptr ? problem->kind + ": " + problem->message : "packed";
}

PackedArg packed(const Packed& result) {
  EXPECT_EQ(reason(result), "packed");
  return std::get<std::vector<PackedArg>>(result).at(0);
}

TEST(Pack, WritesEveryArgumentOfTheSamplesLaunch) {
  const Plan plan = sample::plan();
  const Packed result = pack(std::get<Launch>(plan.forward[sample::kBn].what), sample::kernels().at("bn<0>"));
  ASSERT_EQ(reason(result), "packed");
  const auto& args = std::get<std::vector<PackedArg>>(result);
  ASSERT_EQ(args.size(), 7U);
  EXPECT_THAT(args[0].pointers, testing::ElementsAre(std::pair<std::size_t, TensorId>{0, 7}));
  EXPECT_EQ(args[0].bytes.size(), 8U);
  EXPECT_TRUE(args[2].pointers.empty());
  EXPECT_EQ(read<std::uint64_t>(args[2]), 0U);
  EXPECT_EQ(read<std::int32_t>(args[4]), 1024);
  EXPECT_EQ(read<float>(args[5]), 1e-5F);
  EXPECT_EQ(args[6].bytes.size(), 24U);  // pointer, int, float, int64
  EXPECT_THAT(args[6].pointers, testing::ElementsAre(std::pair<std::size_t, TensorId>{0, 4}));
  EXPECT_EQ(read<std::int32_t>(args[6], 8), 7);
  EXPECT_EQ(read<float>(args[6], 12), 0.5F);
  EXPECT_EQ(read<std::int64_t>(args[6], 16), -1);
}

TEST(Pack, RejectsTheWrongNumberOfArguments) {
  Launch launch = std::get<Launch>(sample::plan().forward[sample::kBn].what);
  launch.args.pop_back();
  EXPECT_THAT(reason(pack(launch, sample::kernels().at("bn<0>"))),
              HasSubstr("bad_argument: kernel \"bn<0>\": it takes 7 arguments, the launch passes 6"));
}

TEST(Pack, IntegersMustFitSignedOrUnsigned) {
  EXPECT_EQ(read<std::uint8_t>(packed(pack_one({std::int64_t{255}}, Kind::kInt, 1))), 255);
  EXPECT_EQ(read<std::int8_t>(packed(pack_one({std::int64_t{-128}}, Kind::kInt, 1))), -128);
  EXPECT_THAT(reason(pack_one({std::int64_t{256}}, Kind::kInt, 1)), HasSubstr("is 256, which does not fit 1 bytes"));
  EXPECT_THAT(reason(pack_one({std::int64_t{-32769}}, Kind::kInt, 2)), HasSubstr("does not fit 2"));
  EXPECT_EQ(read<std::uint32_t>(packed(pack_one({std::int64_t{4294967295}}, Kind::kInt, 4))), 4294967295U);
  EXPECT_THAT(reason(pack_one({std::int64_t{4294967296}}, Kind::kInt, 4)), HasSubstr("does not fit 4"));
  EXPECT_THAT(reason(pack_one({std::int64_t{-2147483649}}, Kind::kInt, 4)), HasSubstr("does not fit 4"));
  const auto least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(read<std::int64_t>(packed(pack_one({least}, Kind::kInt, 8))), least);
  EXPECT_EQ(read<std::uint8_t>(packed(pack_one({true}, Kind::kInt, 1))), 1);
}

TEST(Pack, AFloatIsNoIntegerButAnIntegerIsAFloat) {
  EXPECT_THAT(reason(pack_one({3.0}, Kind::kInt, 4)), HasSubstr("argument 0, a 4-byte integer, is a float: write int"));
  EXPECT_EQ(read<float>(packed(pack_one({std::int64_t{3}}, Kind::kFloat, 4))), 3.0F);
  EXPECT_EQ(read<double>(packed(pack_one({0.1}, Kind::kFloat, 8))), 0.1);
  EXPECT_EQ(read<float>(packed(pack_one({0.1}, Kind::kFloat, 4))), 0.1F);
  EXPECT_THAT(reason(pack_one({true}, Kind::kFloat, 4)), HasSubstr("must be a number"));
  EXPECT_THAT(reason(pack_one({1e39}, Kind::kFloat, 4)), HasSubstr("does not fit a float"));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(read<float>(packed(pack_one({-infinity}, Kind::kFloat, 4))), -std::numeric_limits<float>::infinity());
}

TEST(Pack, PointersAreTensorsOrNull) {
  EXPECT_EQ(read<std::uint64_t>(packed(pack_one({std::monostate{}}, Kind::kPointer, 8))), 0U);
  EXPECT_EQ(read<std::uint64_t>(packed(pack_one({std::int64_t{0}}, Kind::kPointer, 8))), 0U);
  EXPECT_THAT(reason(pack_one({std::int64_t{4096}}, Kind::kPointer, 8)), HasSubstr("must be a tensor, or None"));
  EXPECT_THAT(reason(pack_one({false}, Kind::kPointer, 8)), HasSubstr("must be a tensor"));
  EXPECT_THAT(reason(pack_one({0.0}, Kind::kPointer, 8)), HasSubstr("must be a tensor"));
  EXPECT_THAT(reason(pack_one({TensorRef{1, false}}, Kind::kInt, 8)), HasSubstr("must be an integer"));
  EXPECT_THAT(reason(pack_one({TensorRef{1, false}}, Kind::kFloat, 4)), HasSubstr("must be a number"));
  EXPECT_THAT(reason(pack_one({std::monostate{}}, Kind::kInt, 4)), HasSubstr("must be an integer"));
  EXPECT_THAT(reason(pack_one({Array{}}, Kind::kPointer, 8)), HasSubstr("must be a tensor"));
}

Value array(List items) { return {Array{std::move(items)}}; }

TEST(Pack, StructsArePackedWithNaturalAlignment) {
  const PackedArg arg =
      packed(pack_one(array({{std::int64_t{5}}, {TensorRef{3, false}}, {std::int64_t{6}}}), Kind::kStruct, 24, 8));
  EXPECT_EQ(read<std::int32_t>(arg, 0), 5);
  EXPECT_THAT(arg.pointers, testing::ElementsAre(std::pair<std::size_t, TensorId>{8, 3}));
  EXPECT_EQ(read<std::int32_t>(arg, 16), 6);
  const PackedArg aligned = packed(pack_one(array({{1.0}, {2.0}, {3.0}}), Kind::kStruct, 16, 16));  // __align__(16)
  EXPECT_EQ(read<float>(aligned, 8), 3.0F);
}

TEST(Pack, AStructMustHaveTheParametersSize) {
  EXPECT_THAT(reason(pack_one(array({{std::int64_t{5}}}), Kind::kStruct, 8, 4)),
              HasSubstr("a struct of 8 bytes, packs to 4 bytes"));
  EXPECT_THAT(reason(pack_one(array({{Int64{5}}}), Kind::kStruct, 8, 4)), HasSubstr("packs to 8 bytes"));
  EXPECT_THAT(reason(pack_one(array({}), Kind::kStruct, 8, 8)), HasSubstr("packs to 0 bytes"));
  EXPECT_THAT(reason(pack_one({std::int64_t{5}}, Kind::kStruct, 8, 8)), HasSubstr("must be kg.array"));
  EXPECT_THAT(reason(pack_one(array({{std::int64_t{1} << 32}}), Kind::kStruct, 4, 4)),
              HasSubstr("item 0 is 4294967296, which does not fit 4 bytes"));
  EXPECT_THAT(reason(pack_one(array({{1e300}}), Kind::kStruct, 4, 4)), HasSubstr("item 0 is"));
}

}  // namespace
}  // namespace kagent::plan
