#include "harness/plan/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>

#include "harness/plan/base64.h"
#include "harness/plan/print.h"
#include "tests/harness/plan/sample.h"

namespace kagent::plan {
namespace {

using sample::Json;
using testing::HasSubstr;

Problem problem_of(const std::string& text) {
  const Parsed parsed = parse(text);
  const auto* problem = std::get_if<Problem>(&parsed);
  return problem != nullptr ? *problem : Problem{"none", "accepted", std::nullopt};
}

TEST(Parse, ReadsEveryPartOfThePlan) {
  const Plan plan = sample::plan();
  EXPECT_TRUE(plan.graph);
  EXPECT_FALSE(plan.tf32);
  ASSERT_EQ(plan.tensors.size(), 11U);
  EXPECT_EQ(plan.tensors[10].offset, 128);
  EXPECT_EQ(plan.tensors[10].storage, 8);
  EXPECT_EQ(plan.parameters.at(0), (std::pair<std::string, TensorId>{"conv1.weight", 1}));
  EXPECT_EQ(plan.constants.at(0).second, std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  EXPECT_EQ(plan.prepare.size(), 2U);
  ASSERT_EQ(plan.forward.size(), 7U);
  const auto& slice = std::get<Operator>(plan.forward[sample::kSlice].what);
  EXPECT_EQ(slice.name, "aten::slice");
  EXPECT_EQ(slice.overload, "Tensor");
  EXPECT_EQ(plan.forward[sample::kSlice].line, 16);
  EXPECT_EQ(plan.forward[sample::kRelu].line, std::nullopt);
  const auto& bn = std::get<Launch>(plan.forward[sample::kBn].what);
  EXPECT_EQ(bn.kernel, "bn<0>");
  EXPECT_EQ(bn.grid[1], 4);
  EXPECT_EQ(bn.cluster, (std::vector<std::int64_t>{2, 1, 1}));
  const auto& fc = std::get<Launch>(plan.forward[sample::kFc].what);
  EXPECT_TRUE(fc.cooperative);
  EXPECT_TRUE(std::get<TensorRef>(fc.args[0].data).strided);
  EXPECT_EQ(std::get<double>(fc.args[4].data), -std::numeric_limits<double>::infinity());
  ASSERT_EQ(plan.outputs.children.size(), 2U);
  EXPECT_EQ(plan.outputs.children[1].tree.children[1].key, "h");
}

TEST(Parse, PrintingAndReadingAgainChangesNothing) {
  const std::string once = to_json(sample::plan());
  EXPECT_EQ(Json::parse(once), sample::plan_json());
  const Parsed again = parse(once);
  ASSERT_TRUE(std::holds_alternative<Plan>(again)) << problem_of(once).message;
  EXPECT_EQ(to_json(std::get<Plan>(again)), once);
}

TEST(Parse, KeepsIntegersFloatsAndTheSignOfZeroApart) {
  Json root = sample::plan_json();
  root["inputs"] = {{{"t", 0}}, 3, 3.0, -0.0, 9223372036854775807, 1e-320};
  const Parsed parsed = parse(root.dump());
  ASSERT_TRUE(std::holds_alternative<Plan>(parsed));
  const auto& inputs = std::get<Plan>(parsed).inputs;
  EXPECT_EQ(std::get<std::int64_t>(inputs[1].data), 3);
  EXPECT_EQ(std::get<double>(inputs[2].data), 3.0);
  EXPECT_TRUE(std::signbit(std::get<double>(inputs[3].data)));
  EXPECT_EQ(std::get<std::int64_t>(inputs[4].data), 9223372036854775807);
  EXPECT_EQ(std::get<double>(inputs[5].data), 1e-320);
  EXPECT_EQ(Json::parse(to_json(std::get<Plan>(parsed)))["inputs"].dump(), root["inputs"].dump());
}

struct Broken {
  const char* name;
  std::function<void(Json&)> change;
  const char* kind;
  const char* message;
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

Json& step(Json& root, int index) { return root["forward"][static_cast<std::size_t>(index)]; }

const Broken kBroken[] = {
    {"NotAnObject", [](Json& r) { r = Json::array({1}); }, "bad_plan", "the plan must be an object"},
    {"NoVersion", [](Json& r) { r.erase("version"); }, "bad_plan", "lacks the field \"version\""},
    {"OtherVersion", [](Json& r) { r["version"] = 2; }, "bad_plan", "version: is 2"},
    {"FloatVersion", [](Json& r) { r["version"] = 1.0; }, "bad_plan", "version: must be an integer"},
    {"UnknownField", [](Json& r) { r["stream"] = 1; }, "bad_plan", "unknown field \"stream\""},
    {"OptionMissing", [](Json& r) { r["options"].erase("tf32"); }, "bad_plan", "options: lacks the field \"tf32\""},
    {"OptionUnknown", [](Json& r) { r["options"]["fast"] = true; }, "bad_plan", "options: has the unknown field"},
    {"OptionNoBool", [](Json& r) { r["options"]["graph"] = 1; }, "bad_plan", "options.graph: must be true or false"},
    {"ShapeNegative", [](Json& r) { r["tensors"][7]["shape"][1] = -4; }, "bad_plan", "tensors[7].shape[1]: is -4"},
    {"ShapeFloat", [](Json& r) { r["tensors"][7]["shape"][1] = 4.0; }, "bad_plan", "tensors[7].shape[1]: must be an"},
    {"ShapeNoList", [](Json& r) { r["tensors"][7]["shape"] = 4; }, "bad_plan", "tensors[7].shape: must be a list"},
    {"StrideNegative", [](Json& r) { r["tensors"][7]["stride"][3] = -1; }, "bad_plan", "tensors[7].stride[3]: is -1"},
    {"OffsetNegative", [](Json& r) { r["tensors"][7]["offset"] = -1; }, "bad_plan", "tensors[7].offset: is -1"},
    {"RankDiffers", [](Json& r) { r["tensors"][7]["stride"] = {1}; }, "bad_plan", "different lengths"},
    {"SeventeenDimensions", [](Json& r) { r["tensors"][7]["shape"] = Json(std::vector<int>(17, 1)); }, "too_large",
     "tensors[7].shape: has 17 entries"},
    {"UnknownDtype", [](Json& r) { r["tensors"][7]["dtype"] = "complex64"; }, "bad_plan", "\"complex64\" cannot be"},
    {"StorageOutside", [](Json& r) { r["tensors"][7]["storage"] = 11; }, "bad_plan", "tensors[7].storage: is 11"},
    {"ElementsOverflow",
     [](Json& r) {
       r["tensors"][7]["shape"] = {1LL << 40, 1LL << 40, 1LL << 40};
       r["tensors"][7]["stride"] = {0, 0, 0};
     },
     "too_large", "tensors[7]: is too large"},
    {"ExtentOverflows",
     [](Json& r) {
       r["tensors"][7]["shape"] = {1LL << 40, 2};
       r["tensors"][7]["stride"] = {1LL << 40, 1LL << 46};
     },
     "too_large", "tensors[7]: is too large"},
    {"OffsetBeyondAddresses", [](Json& r) { r["tensors"][7]["offset"] = 1LL << 46; }, "too_large", "is too large"},
    {"InputString", [](Json& r) { r["inputs"][1] = "x"; }, "bad_plan", "inputs[1]: string cannot be an input"},
    {"InputList",
     [](Json& r) {
       r["inputs"][1] = {1, 2};
     },
     "bad_plan", "inputs[1]: array cannot be an input"},
    {"InputStrided", [](Json& r) { r["inputs"][0]["strided"] = true; }, "bad_plan", "inputs[0]: has the unknown"},
    {"InputIdOutside", [](Json& r) { r["inputs"][0]["t"] = -1; }, "bad_plan", "inputs[0].t: is -1"},
    {"ParameterNoPair", [](Json& r) { r["parameters"][0] = {"w"}; }, "bad_plan", "parameters[0]: must be [name, id]"},
    {"ParameterSwapped",
     [](Json& r) {
       r["parameters"][0] = {1, "w"};
     },
     "bad_plan", "parameters[0][0]: must be a str"},
    {"NameTooLong", [](Json& r) { r["buffers"][0][0] = std::string(2000, 'x'); }, "too_large", "buffers[0][0]"},
    {"ConstantWhiteSpace", [](Json& r) { r["constants"][0]["data"] = "AACAPwAA AEA="; }, "bad_plan", "is not base64"},
    {"ConstantUnpadded", [](Json& r) { r["constants"][0]["data"] = "AACAPwAAAEA"; }, "bad_plan", "is not base64"},
    {"ConstantSpareBits", [](Json& r) { r["constants"][0]["data"] = "AACAPwAAAEB="; }, "bad_plan", "is not base64"},
    {"ConstantShort", [](Json& r) { r["constants"][0]["data"] = "AACAPw=="; }, "bad_plan", "size of its contiguous"},
    {"ConstantStrided", [](Json& r) { r["tensors"][4]["stride"] = {2}; }, "bad_plan", "size of its contiguous tensor"},
    {"ConstantsTooLarge",
     [](Json& r) {
       r["tensors"][4]["shape"] = {300000};
       r["constants"][0]["data"] = std::string(1600000, 'A');
     },
     "too_large", "larger than 1 MiB"},
    {"OpNoString", [](Json& r) { step(r, 0)["op"] = 3; }, "bad_plan", "forward[0].op: must be a string"},
    {"OpEmptyOverload", [](Json& r) { step(r, 0)["op"] = "aten::conv2d."; }, "bad_plan", "no overload after its dot"},
    {"OpUnknownField", [](Json& r) { step(r, 0)["stream"] = 0; }, "bad_plan", "forward[0]: has the unknown field"},
    {"OpAndLaunch", [](Json& r) { step(r, 0)["launch"] = "fc"; }, "bad_plan", "forward[0]: lacks the field \"grid\""},
    {"OpStridedArgument", [](Json& r) { step(r, 0)["args"][0]["strided"] = true; }, "bad_plan", "forward[0].args[0]"},
    {"OpArrayArgument",
     [](Json& r) {
       step(r, 0)["args"][2] = {{"array", {1}}};
     },
     "bad_plan", "forward[0].args[2]"},
    {"OpUnknownValue",
     [](Json& r) {
       step(r, 0)["args"][2] = {{"generator", 1}};
     },
     "bad_plan", "\"generator\" cannot"},
    {"OpEmptyValue", [](Json& r) { step(r, 0)["args"][2] = Json::object(); }, "bad_plan", "{} cannot be"},
    {"OpOtherDevice", [](Json& r) { step(r, 1)["kwargs"]["device"]["device"] = "cpu"; }, "bad_plan",
     R"(forward[1].kwargs["device"]: device "cpu" cannot be used)"},
    {"OpOtherDtype", [](Json& r) { step(r, 1)["kwargs"]["dtype"]["dtype"] = "quint8"; }, "bad_plan", "\"quint8\""},
    {"OpOtherLayout", [](Json& r) { step(r, 1)["kwargs"]["layout"]["layout"] = "sparse_coo"; }, "bad_plan", "layout"},
    {"OpOddFloat",
     [](Json& r) {
       step(r, 0)["args"][2] = {{"float", "infinity"}};
     },
     "bad_plan", "not \"infinity\""},
    {"OpKwargsList", [](Json& r) { step(r, 0)["kwargs"] = Json::array(); }, "bad_plan", "kwargs: must be an object"},
    {"OpResultNumber", [](Json& r) { step(r, 0)["results"][0] = 7; }, "bad_plan", "forward[0].results[0]"},
    {"OpResultNested",
     [](Json& r) {
       step(r, 0)["results"][0] = {{{{"t", 7}}}};
     },
     "bad_plan", "results[0][0]"},
    {"GridTwoNumbers",
     [](Json& r) {
       step(r, 2)["grid"] = {8, 4};
     },
     "bad_plan", "forward[2].grid: must be three"},
    {"GridZero", [](Json& r) { step(r, 2)["grid"][1] = 0; }, "bad_plan", "forward[2].grid[1]: is 0"},
    {"GridHuge", [](Json& r) { step(r, 2)["grid"][0] = 1LL << 31; }, "bad_plan", "forward[2].grid[0]: is 2147483648"},
    {"BlockNegative", [](Json& r) { step(r, 2)["block"][0] = -256; }, "bad_plan", "forward[2].block[0]: is -256"},
    {"SharedNegative", [](Json& r) { step(r, 2)["shared"] = -1; }, "bad_plan", "forward[2].shared: is -1"},
    {"ClusterZero", [](Json& r) { step(r, 2)["cluster"][0] = 0; }, "bad_plan", "forward[2].cluster[0]: is 0"},
    {"CooperativeNumber", [](Json& r) { step(r, 2)["cooperative"] = 0; }, "bad_plan", "cooperative: must be true or"},
    {"LaunchString", [](Json& r) { step(r, 2)["args"][4] = "1024"; }, "bad_plan", "string cannot be a launch argument"},
    {"LaunchList", [](Json& r) { step(r, 2)["args"][4] = {1}; }, "bad_plan", "array cannot be a launch argument"},
    {"LaunchDtype",
     [](Json& r) {
       step(r, 2)["args"][4] = {{"dtype", "int32"}};
     },
     "bad_plan", "cannot be a launch"},
    {"LaunchLooseInt64",
     [](Json& r) {
       step(r, 2)["args"][4] = {{"i64", 1}};
     },
     "bad_plan", "cannot be a launch arg"},
    {"ArrayInArray",
     [](Json& r) {
       step(r, 2)["args"][6]["array"][1] = {{"array", {1}}};
     },
     "bad_plan", "kg.array"},
    {"ArrayBool", [](Json& r) { step(r, 2)["args"][6]["array"][1] = true; }, "bad_plan", "args[6].array[1]: boolean"},
    {"StridedFalse", [](Json& r) { step(r, 5)["args"][0]["strided"] = false; }, "bad_plan", "must be true or left out"},
    {"LineZero", [](Json& r) { step(r, 2)["line"] = 0; }, "bad_plan", "forward[2].line: is 0"},
    {"LineText", [](Json& r) { step(r, 2)["line"] = "14"; }, "bad_plan", "forward[2].line: must be an integer"},
    {"LineMissing", [](Json& r) { step(r, 2).erase("line"); }, "bad_plan", "forward[2]: lacks the field \"line\""},
    {"StepNull", [](Json& r) { step(r, 2) = nullptr; }, "bad_plan", "forward[2]: must be an object"},
    {"OutputNull", [](Json& r) { r["outputs"] = nullptr; }, "bad_plan", "outputs: must be an object with one of"},
    {"OutputTwoKinds",
     [](Json& r) {
       r["outputs"] = {{"t", 9}, {"value", 1}};
     },
     "bad_plan", "outputs: must be an"},
    {"OutputUnknown",
     [](Json& r) {
       r["outputs"] = {{"set", {1}}};
     },
     "bad_plan", "unknown field \"set\""},
    {"OutputTensorValue",
     [](Json& r) {
       r["outputs"] = {{"value", {{"t", 9}}}};
     },
     "bad_plan", "outputs.value"},
    {"TagIdOutside", [](Json& r) { r["tags"][0][1] = 99; }, "bad_plan", "tags[0][1]: is 99"},
    {"TooManySteps",
     [](Json& r) {
       while (r["prepare"].size() < 15000) r["prepare"].push_back(r["prepare"][0]);
       while (r["forward"].size() < 6000) r["forward"].push_back(r["forward"][0]);
     },
     "too_large", "forward: has 6000 entries"},
    {"TooManyTensors",
     [](Json& r) {
       while (r["tensors"].size() <= kMaxTensors) r["tensors"].push_back(r["tensors"][0]);
     },
     "too_large", "tensors: has 65537 entries"},
    {"TooDeep",
     [](Json& r) {
       for (int i = 0; i < 20; ++i) r["outputs"] = {{"tuple", {r["outputs"]}}};
     },
     "too_large", "nested deeper than 16"},
};

class ParseRejects : public testing::TestWithParam<Broken> {};

TEST_P(ParseRejects, WithThePath) {
  Json root = sample::plan_json();
  GetParam().change(root);
  const Problem problem = problem_of(root.dump());
  EXPECT_EQ(problem.kind, GetParam().kind) << problem.message;
  EXPECT_THAT(problem.message, HasSubstr(GetParam().message));
  EXPECT_EQ(problem.message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Plan, ParseRejects, testing::ValuesIn(kBroken),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(Parse, AProblemInAStepHasTheStepsLine) {
  Json root = sample::plan_json();
  root["forward"][sample::kBn]["grid"][0] = "x";
  EXPECT_EQ(problem_of(root.dump()).line, 14);
  root = sample::plan_json();
  root["tags"][0][1] = 99;
  EXPECT_EQ(problem_of(root.dump()).line, std::nullopt);
}

TEST(Parse, RejectsTextThatIsNoJson) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\":1,}", "nul", "1e999", "NaN", "\"\xff\"", "{\"a\" 1}", "{} {}",
                           "{\"version\": 01}", "'a'", "/**/{}"}) {
    EXPECT_EQ(problem_of(text).kind, "bad_json") << text;
  }
  EXPECT_EQ(problem_of(std::string("{\0}", 3)).kind, "bad_json");
}

TEST(Parse, RejectsAKeyThatComesTwice) {
  EXPECT_THAT(problem_of(R"({"version": 1, "version": 1})").message, HasSubstr("the key \"version\" twice"));
  std::string text = sample::plan_json().dump();
  text.replace(text.find(R"("graph":true)"), 12, R"("graph":true,"graph":false)");
  EXPECT_THAT(problem_of(text).message, HasSubstr("the key \"graph\" twice"));
}

TEST(Parse, RejectsIntegersThatDoNotFit) {
  for (const char* number : {"9223372036854775808", "-9223372036854775809", "18446744073709551616"}) {
    Json root = sample::plan_json();
    root["inputs"][1] = "NUMBER";
    std::string text = root.dump();
    text.replace(text.find("\"NUMBER\""), 8, number);
    EXPECT_THAT(problem_of(text).message, HasSubstr("does not fit 64 bits")) << number;
  }
}

TEST(Parse, BoundsTimeAndMemoryOnHostileText) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(problem_of(std::string(10'000'000, '[')).kind, "too_large");
  EXPECT_EQ(problem_of("[" + std::string(17'000'000, ' ') + "]").kind, "too_large");
  std::string zeros = "[";
  for (int i = 0; i < 3'000'000; ++i) zeros += "0,";
  EXPECT_EQ(problem_of(zeros + "0]").kind, "too_large");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Parse, MessagesShowNoControlCharacters) {
  Json root = sample::plan_json();
  root["a\n\x1b[31m\u00e9"] = 1;
  EXPECT_THAT(problem_of(root.dump()).message, HasSubstr("\"a??[31m??\""));
}

TEST(Base64, IsStrictAndReversible) {
  const std::pair<std::string, std::string> known[] = {{"", ""},        {"f", "Zg=="},          {"fo", "Zm8="},
                                                       {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}, {"\xff\xfe", "//4="}};
  for (const auto& [bytes, text] : known) {
    EXPECT_EQ(encode_base64(bytes), text);
    EXPECT_EQ(decode_base64(text), bytes);
  }
  for (const char* text : {"Z", "Zg", "Zg=", "Zh==", "Z===", "====", "Zm9v====", "Zg==Zg==", "Zm9-", "Z g=", "=Zg="}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace kagent::plan
