#include "harness/plan/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "harness/plan/parse.h"
#include "tests/harness/plan/sample.h"

namespace kagent::plan {
namespace {

using sample::Json;
using testing::HasSubstr;

Problem verdict(const Json& root, Mode mode = Mode::kCandidate) {
  const Parsed parsed = parse(root.dump());
  if (const auto* problem = std::get_if<Problem>(&parsed)) return *problem;
  const auto problem = validate(std::get<Plan>(parsed), sample::kernels(), sample::device(), sample::operators(), mode);
  return problem.value_or(Problem{"valid", "", std::nullopt});
}

Json& forward(Json& root, int index) { return root["forward"][static_cast<std::size_t>(index)]; }

Json operation(const char* name, Json args, Json results) {
  return {{"op", name},
          {"args", std::move(args)},
          {"kwargs", Json::object()},
          {"results", std::move(results)},
          {"line", 30}};
}

Json t(int id) { return {{"t", id}}; }

// Appends a tensor and returns its id; storage -1: its own.
int add_tensor(Json& root, Json shape, Json stride, int storage = -1, const char* dtype = "float32", int offset = 0) {
  const int id = static_cast<int>(root["tensors"].size());
  root["tensors"].push_back({{"shape", std::move(shape)},
                             {"stride", std::move(stride)},
                             {"offset", offset},
                             {"dtype", dtype},
                             {"storage", storage < 0 ? id : storage}});
  return id;
}

void insert(Json& steps, int position, Json step) { steps.insert(steps.begin() + position, std::move(step)); }

TEST(Validate, AcceptsThePlanThatBreaksNoRule) {
  EXPECT_EQ(verdict(sample::plan_json()).kind, "valid") << verdict(sample::plan_json()).message;
}

struct Broken {
  const char* name;
  std::function<void(Json&)> change;
  const char* kind;
  const char* message;
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

const Broken kBroken[] = {
    {"UseBeforeDefinition", [](Json& r) { forward(r, sample::kConv)["args"][0] = t(8); }, "unknown_tensor",
     "tensor 8 is used before any step makes it"},
    {"LaunchBeforeDefinition", [](Json& r) { forward(r, sample::kBn)["args"][1] = t(9); }, "unknown_tensor",
     "tensor 9"},
    {"ArrayBeforeDefinition", [](Json& r) { forward(r, sample::kBn)["args"][6]["array"][0] = t(9); }, "unknown_tensor",
     "tensor 9"},
    {"DefinedTwiceBySteps", [](Json& r) { insert(r["forward"], 1, operation("aten::clone", {t(0)}, {t(7)})); },
     "bad_id", "tensor 7, a result of \"aten::clone\", is defined already"},
    {"DefinedTwiceBySources", [](Json& r) { r["buffers"][0][1] = 1; }, "bad_id", "tensor 1 is defined twice"},
    {"SameInputTwice", [](Json& r) { r["inputs"][1] = t(0); }, "bad_id", "tensor 0 is defined twice"},
    {"ConstantIsAParameter",
     [](Json& r) {
       r["tensors"][1] = r["tensors"][4];
       r["tensors"][1]["storage"] = 1;
       r["constants"][0]["t"] = 1;
     },
     "bad_id", "tensor 1 is defined twice"},
    {"SourceIsAView", [](Json& r) { r["tensors"][0]["storage"] = 8; }, "bad_view", "must own its storage"},
    {"ParameterSharesStorage", [](Json& r) { r["tensors"][2]["storage"] = 1; }, "bad_view", "must own its storage"},
    {"ConstantWithOffset", [](Json& r) { r["tensors"][4]["offset"] = 1; }, "bad_constant", "tensor 4"},
    {"ViewOfAStranger", [](Json& r) { r["tensors"][9]["storage"] = 7; }, "bad_view", "none of the operator's"},
    {"ViewOfAView", [](Json& r) { r["tensors"][10]["storage"] = 9; }, "bad_view", "claims the storage of tensor 9"},
    {"ViewOfTheFuture", [](Json& r) { r["tensors"][9]["storage"] = 10; }, "bad_view", "none of the operator's"},
    {"ViewBeyondStorage", [](Json& r) { r["tensors"][10]["offset"] = 129; }, "bad_view", "beyond the storage"},
    {"ViewBeyondByStride", [](Json& r) { r["tensors"][10]["stride"][0] = 257; }, "bad_view", "beyond the storage"},
    {"ViewBeyondByDtype", [](Json& r) { r["tensors"][9]["dtype"] = "float64"; }, "bad_view", "beyond the storage"},
    {"OperatorNotListed", [](Json& r) { forward(r, sample::kConv)["op"] = "aten::rand_like"; }, "operator_not_allowed",
     "\"aten::rand_like\" is not allowed"},
    {"OverloadNotListed", [](Json& r) { forward(r, sample::kConv)["op"] = "aten::conv2d.padding"; },
     "operator_not_allowed", "\"aten::conv2d.padding\""},
    {"OtherNamespace", [](Json& r) { forward(r, sample::kConv)["op"] = "prims::conv2d"; }, "operator_not_allowed",
     "prims"},
    {"PrepareReadsInput", [](Json& r) { r["prepare"][1]["args"][0] = t(0); }, "prepare_reads_input", "prepare uses"},
    {"PrepareLaunchReadsInput",
     [](Json& r) {
       Json launch = forward(r, sample::kBn);
       launch["args"] = {t(0), t(1), nullptr, t(5), 1, 1.0, {{"array", {t(4), 7, 0.5, {{"i64", 1}}}}}};
       r["prepare"].push_back(launch);
     },
     "prepare_reads_input", "prepare uses an input"},
    {"PrepareArrayReadsInput",
     [](Json& r) {
       Json launch = forward(r, sample::kBn);
       launch["args"] = {t(1), t(1), nullptr, t(5), 1, 1.0, {{"array", {t(0), 7, 0.5, {{"i64", 1}}}}}};
       r["prepare"].push_back(launch);
     },
     "prepare_reads_input", "prepare uses an input"},
    {"PrepareUsesForward", [](Json& r) { r["prepare"][1]["args"][0] = t(7); }, "unknown_tensor", "tensor 7"},
    {"PrepareAliasesInput", [](Json& r) { r["tensors"][6]["storage"] = 0; }, "bad_view",
     "claims the storage of tensor 0"},
    {"PrepareWritesBuffer",
     [](Json& r) {
       r["prepare"].push_back(operation("aten::copy_", {t(2), t(2)}, {t(2)}));
     },
     "prepare_writes", "a buffer in prepare"},
    {"PrepareWritesState", [](Json& r) { r["prepare"].push_back(operation("aten::relu_", {t(3)}, {t(3)})); },
     "prepare_writes", "state in prepare"},
    {"PrepareWritesRunningStatistics",
     [](Json& r) {
       const int id = add_tensor(r, {4, 27}, {27, 1});
       r["prepare"].push_back(
           operation("aten::batch_norm", {t(5), nullptr, nullptr, t(2), t(2), true, 0.1, 1e-5, true}, {t(id)}));
     },
     "prepare_writes", "a buffer in prepare"},
    {"PrepareKernelWritesBuffer",
     [](Json& r) {
       Json launch = forward(r, sample::kBn);
       launch["args"] = {t(1), t(1), nullptr, t(2), 1, 1.0, {{"array", {t(4), 7, 0.5, {{"i64", 1}}}}}};
       r["prepare"].push_back(launch);
     },
     "prepare_writes", "declare the pointer const"},
    {"OperatorWritesParameter", [](Json& r) { r["forward"].push_back(operation("aten::relu_", {t(1)}, {t(1)})); },
     "writes_parameter", "\"aten::relu_\" writes to a parameter"},
    {"OperatorWritesParameterView", [](Json& r) { r["forward"].push_back(operation("aten::relu_", {t(6)}, {t(6)})); },
     "writes_parameter", "writes to a parameter"},
    {"OutWritesParameter",
     [](Json& r) {
       Json step = operation("aten::add.out", {t(1), t(1)}, {t(1)});
       step["kwargs"]["out"] = t(1);
       r["forward"].push_back(step);
     },
     "writes_parameter", "writes to a parameter"},
    {"RunningStatisticsAreAParameter",
     [](Json& r) {
       const int id = add_tensor(r, {2, 4, 8, 8}, {256, 64, 8, 1});
       r["forward"].push_back(
           operation("aten::batch_norm", {t(7), nullptr, nullptr, t(1), t(2), true, 0.1, 1e-5, true}, {t(id)}));
     },
     "writes_parameter", "writes to a parameter"},
    {"OperatorWritesConstant", [](Json& r) { r["forward"].push_back(operation("aten::relu_", {t(4)}, {t(4)})); },
     "writes_parameter", "a constant"},
    {"OperatorWritesPrepared", [](Json& r) { r["forward"].push_back(operation("aten::relu_", {t(5)}, {t(5)})); },
     "writes_prepared", "carry state from call to call"},
    {"KernelWritesParameter", [](Json& r) { forward(r, sample::kBn)["args"][3] = t(1); }, "writes_parameter",
     "argument 3, which is a parameter; if it only reads it, declare the pointer const"},
    {"KernelWritesPrepared", [](Json& r) { forward(r, sample::kBn)["args"][3] = t(5); }, "writes_prepared",
     "carry state from call to call"},
    {"KernelWritesConstant", [](Json& r) { forward(r, sample::kBn)["args"][3] = t(4); }, "writes_parameter",
     "a constant"},
    {"OutputNeverMade", [](Json& r) { r["outputs"] = t(add_tensor(r, {2}, {1})); }, "bad_output", "is made by no step"},
    {"OutputIsTheInput", [](Json& r) { r["outputs"] = t(0); }, "bad_output", "an output is an input"},
    {"OutputIsAParameter",
     [](Json& r) {
       r["outputs"] = {{"tuple", {t(9), t(6)}}};
     },
     "bad_output", "is a parameter"},
    {"OutputIsPrepared", [](Json& r) { r["outputs"] = t(5); }, "bad_output", "what prepare made"},
    {"OutputIsABuffer",
     [](Json& r) {
       r["outputs"] = {{"list", {t(2)}}};
     },
     "bad_output", "is a buffer"},
    {"TagOfNothing", [](Json& r) { r["tags"][0][1] = add_tensor(r, {2}, {1}); }, "unknown_tensor", "tag \"layer1.0\""},
    {"UnknownKernel", [](Json& r) { forward(r, sample::kBn)["launch"] = "bn<1>"; }, "unknown_kernel",
     R"(no kernel "bn<1>" was compiled; there is "bn<0>", "fc")"},
    {"KernelInPrepareOnly",
     [](Json& r) {
       Json launch = forward(r, sample::kBn);
       launch["args"] = {t(1), t(1), nullptr, t(5), 1, 1.0, {{"array", {t(4), 7, 0.5, {{"i64", 1}}}}}};
       r["prepare"].push_back(launch);
       r["forward"].erase(sample::kFc);
       r["forward"].erase(sample::kBn);
     },
     "no_kernel", "forward launches no kernel"},
    {"NoKernelInForward",
     [](Json& r) {
       r["forward"].erase(sample::kFc);
       r["forward"].erase(sample::kBn);
     },
     "no_kernel", "forward launches no kernel"},
};

class ValidateRejects : public testing::TestWithParam<Broken> {};

TEST_P(ValidateRejects, TheBrokenRule) {
  Json root = sample::plan_json();
  GetParam().change(root);
  const Problem problem = verdict(root);
  EXPECT_EQ(problem.kind, GetParam().kind) << problem.message;
  EXPECT_THAT(problem.message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Plan, ValidateRejects, testing::ValuesIn(kBroken),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(Validate, AProblemHasTheLineOfItsStep) {
  Json root = sample::plan_json();
  forward(root, sample::kFc)["launch"] = "fd";
  EXPECT_EQ(verdict(root).line, 17);
  root = sample::plan_json();
  root["outputs"] = t(0);
  EXPECT_EQ(verdict(root).line, std::nullopt);
}

TEST(Validate, ForwardMayUpdateBuffersAndState) {
  Json root = sample::plan_json();
  const int out = add_tensor(root, {2, 4, 8, 8}, {256, 64, 8, 1});
  root["forward"].push_back(operation("aten::copy_", {t(3), t(3)}, {t(3)}));
  root["forward"].push_back(
      operation("aten::batch_norm", {t(7), nullptr, nullptr, t(2), t(2), true, 0.1, 1e-5, true}, {t(out)}));
  EXPECT_EQ(verdict(root).kind, "valid") << verdict(root).message;
}

TEST(Validate, AnOperatorMayReturnSeveralViewsOfOneNewStorage) {
  Json root = sample::plan_json();
  const int whole = add_tensor(root, {2, 4}, {4, 1});
  const int part = add_tensor(root, {2, 2}, {4, 1}, whole, "float32", 2);
  root["forward"].push_back(operation("aten::split.Tensor", {t(3), 2, 1}, {Json::array({t(whole), t(part)})}));
  EXPECT_EQ(verdict(root).kind, "valid") << verdict(root).message;
}

TEST(Validate, ANarrowerDtypeOfTheSameBytesIsAView) {
  Json root = sample::plan_json();
  const int bytes = add_tensor(root, {2048}, {1}, 8, "uint8");
  root["forward"].push_back(operation("aten::view.dtype", {t(8), {{"dtype", "uint8"}}}, {t(bytes)}));
  EXPECT_EQ(verdict(root).kind, "valid") << verdict(root).message;
  root["tensors"][static_cast<std::size_t>(bytes)]["shape"][0] = 2049;
  EXPECT_EQ(verdict(root).kind, "bad_view");
}

TEST(Validate, AnExternCKernelMayTakeAParameterBecauseItsPointersSayNothing) {
  Json root = sample::plan_json();
  forward(root, sample::kFc)["args"][1] = t(1);
  EXPECT_EQ(verdict(root).kind, "valid") << verdict(root).message;
}

TEST(Validate, AReferenceNeedsNoKernelAndMayReturnWhatItWasGiven) {
  Json root = sample::plan_json();
  root["forward"].erase(sample::kFc);
  root["forward"].erase(sample::kBn);
  root["outputs"] = {{"tuple", {t(0), t(2), t(9)}}};
  EXPECT_EQ(verdict(root, Mode::kReference).kind, "valid") << verdict(root, Mode::kReference).message;
  EXPECT_EQ(verdict(root, Mode::kCandidate).kind, "bad_output");
  EXPECT_EQ(verdict(root, Mode::kCandidateAliasing).kind, "no_kernel");
}

TEST(Validate, ACandidateMayReturnWhatTheReferenceReturnsTheSameWay) {
  Json root = sample::plan_json();
  root["outputs"] = {{"tuple", {t(9), t(3)}}};
  EXPECT_EQ(verdict(root, Mode::kCandidate).kind, "bad_output");
  EXPECT_EQ(verdict(root, Mode::kCandidateAliasing).kind, "valid");
}

TEST(Validate, LongListsOfTensorsCostLinearTime) {
  Json root = sample::plan_json();
  Json list = Json::array();
  for (int i = 0; i < 200'000; ++i) list.push_back(t(7));
  Json results = Json::array();
  for (int i = 0; i < 50'000; ++i) results.push_back(t(add_tensor(root, {2}, {1}, 7)));
  root["forward"].push_back(operation("aten::split.Tensor", {std::move(list)}, {std::move(results)}));
  EXPECT_EQ(verdict(root).kind, "valid") << verdict(root).message;
}

}  // namespace
}  // namespace kagent::plan
