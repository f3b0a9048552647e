// The executor on the CPU: operators, lifetimes, state, and what it refuses.
#include "harness/execute/executor.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/execute/run_error.h"
#include "tests/harness/execute/plans.h"

namespace kagent::execute {
namespace {

using plans::Parts;
using testing::ElementsAre;

const c10::Device kCpu{c10::kCPU};

// y = relu(x) for x of 2x3.
Parts relu() {
  return {.tensors = {{{2, 3}, {3, 1}}, {{2, 3}, {3, 1}}},
          .forward = R"([{"op": "aten::relu", "args": [{"t": 0}], "kwargs": {}, "results": [{"t": 1}], "line": 7}])",
          .outputs = R"({"t": 1})"};
}

std::unique_ptr<Executor> ready(const Parts& parts, const std::vector<at::Tensor>& parameters = {},
                                const std::vector<at::Tensor>& buffers = {}) {
  auto e = plans::executor(parts, kCpu);
  e->bind(parameters, buffers, {});
  e->prepare();
  return e;
}

std::string kind_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const RunError& error) {
    return error.kind;
  }
  return "nothing thrown";
}

TEST(Executor, RunsOperatorsAndReturnsFreshTensors) {
  const auto e = ready(relu());
  const at::Tensor x = at::randn({2, 3});
  const at::Tensor first = e->run({x}).at(0);
  EXPECT_TRUE(first.equal(x.relu()));
  const at::Tensor kept = first.clone();
  const at::Tensor second = e->run({-x}).at(0);
  EXPECT_TRUE(second.equal((-x).relu()));
  EXPECT_TRUE(first.equal(kept));
  EXPECT_FALSE(first.is_alias_of(second));
}

TEST(Executor, AnOutputIsNeverAnInputAParameterOrAnotherOutput) {
  Parts parts = relu();
  parts.parameters = R"([["w", 1]])";
  parts.forward = "[]";
  parts.outputs = R"({"tuple": [{"t": 0}, {"t": 1}, {"t": 1}]})";
  const at::Tensor w = at::randn({2, 3});
  const at::Tensor x = at::randn({2, 3});
  const auto e = ready(parts, {w});
  const auto out = e->run({x});
  EXPECT_TRUE(out.at(0).equal(x));
  EXPECT_TRUE(out.at(1).equal(w));
  EXPECT_FALSE(out.at(0).is_alias_of(x));
  EXPECT_FALSE(out.at(1).is_alias_of(w));
  EXPECT_FALSE(out.at(1).is_alias_of(out.at(2)));
}

TEST(Executor, RunsBeforePrepareAreRefused) {
  auto e = plans::executor(relu(), kCpu);
  EXPECT_EQ(kind_of([&] { e->run({at::zeros({2, 3})}); }), "wrong_input");
}

TEST(Executor, InputsAreHeldAgainstThePlan) {
  const auto e = ready(relu());
  EXPECT_EQ(kind_of([&] { e->run({at::zeros({3, 2})}); }), "wrong_input");
  EXPECT_EQ(kind_of([&] { e->run({at::zeros({3, 2}).t()}); }), "wrong_input");
  EXPECT_EQ(kind_of([&] { e->run({}); }), "wrong_input");
  EXPECT_EQ(kind_of([&] { e->bind({at::zeros({1})}, {}, {}); }), "wrong_input");
}

// What another version of an operator would return is copied into the planned layout, and counted.
TEST(Executor, OtherStridesThanPlannedAreLaidOutAnew) {
  Parts parts = relu();
  parts.tensors[1].stride = {1, 2};
  const auto e = ready(parts);
  const at::Tensor x = at::randn({2, 3});
  const at::Tensor out = e->run({x}).at(0);
  EXPECT_THAT(out.strides(), ElementsAre(1, 2));
  EXPECT_TRUE(out.equal(x.relu()));
  EXPECT_EQ(e->counts().copied_results, 1);
}

TEST(Executor, AResultOfAnotherShapeOrDtypeIsAnErrorAtItsLine) {
  Parts parts = relu();
  parts.tensors[1] = {{3, 2}, {2, 1}};
  const auto e = ready(parts);
  try {
    e->run({at::zeros({2, 3})});
    FAIL() << "ran";
  } catch (const RunError& error) {
    EXPECT_EQ(error.kind, "operator_error");
    EXPECT_EQ(error.line, 7);
    EXPECT_STREQ(error.what(), "aten::relu: its result has another shape than planned");
  }
}

TEST(Executor, UnknownOperatorsAndArgumentsAreRefusedWhenLoaded) {
  Parts parts = relu();
  parts.forward = R"([{"op": "aten::no_such", "args": [], "kwargs": {}, "results": [{"t": 1}], "line": 2}])";
  EXPECT_EQ(kind_of([&] { plans::executor(parts, kCpu); }), "operator_error");
  parts.forward = R"([{"op": "aten::relu", "args": [], "kwargs": {}, "results": [{"t": 1}], "line": 2}])";
  EXPECT_EQ(kind_of([&] { plans::executor(parts, kCpu); }), "operator_error");
}

TEST(Executor, AnArgumentIsGivenOnceAndByItsName) {
  Parts parts = relu();
  for (const char* arguments :
       {R"([{"t": 0}, {"t": 0}], "kwargs": {"other": {"t": 0}})", R"([{"t": 0}, {"t": 0}], "kwargs": {"no": 1})"}) {
    parts.forward =
        std::string(R"([{"op": "aten::add.Tensor", "args": )") + arguments + R"(, "results": [{"t": 1}], "line": 2}])";
    EXPECT_EQ(kind_of([&] { plans::executor(parts, kCpu); }), "operator_error") << arguments;
  }
}

// w2 = w + w in prepare; y = x * w2 in forward.
TEST(Executor, PrepareSeesParametersAndRunsAgainWhenAsked) {
  Parts parts;
  parts.tensors = {{{3}, {1}}, {{3}, {1}}, {{3}, {1}}, {{3}, {1}}};
  parts.parameters = R"([["w", 1]])";
  parts.prepare =
      R"([{"op": "aten::add.Tensor", "args": [{"t": 1}, {"t": 1}], "kwargs": {}, "results": [{"t": 2}], "line": 1}])";
  parts.forward =
      R"([{"op": "aten::mul.Tensor", "args": [{"t": 0}, {"t": 2}], "kwargs": {}, "results": [{"t": 3}], "line": 2}])";
  parts.outputs = R"({"t": 3})";
  const at::Tensor w = at::ones({3});
  const at::Tensor x = at::ones({3});
  const auto e = ready(parts, {w});
  EXPECT_TRUE(e->run({x}).at(0).equal(at::full({3}, 2.0F)));
  w.fill_(5);
  e->prepare();
  EXPECT_TRUE(e->run({x}).at(0).equal(at::full({3}, 10.0F)));
  e->bind({at::zeros({3})}, {}, {});
  EXPECT_EQ(kind_of([&] { e->run({x}); }), "wrong_input");
}

TEST(Executor, BuffersAreUpdatedInPlaceOnceACall) {
  Parts parts;
  parts.tensors = {{{3}, {1}}, {{3}, {1}}};
  parts.buffers = R"([["count", 1]])";
  parts.forward =
      R"([{"op": "aten::add_.Tensor", "args": [{"t": 1}, {"t": 0}], "kwargs": {}, "results": [{"t": 1}], "line": 1}])";
  parts.outputs = R"({"t": 1})";
  const at::Tensor count = at::zeros({3});
  const auto e = ready(parts, {}, {count});
  const at::Tensor first = e->run({at::ones({3})}).at(0);
  e->run({at::ones({3})});
  EXPECT_TRUE(count.equal(at::full({3}, 2.0F)));
  EXPECT_TRUE(first.equal(at::ones({3})));  // not the buffer itself
}

TEST(Executor, ScratchIsPoisoned) {
  Parts parts = relu();
  parts.forward = R"([{"op": "aten::empty_like", "args": [{"t": 0}], "kwargs": {}, "results": [{"t": 1}], "line": 1}])";
  const auto e = ready(parts);
  const at::Tensor x = at::zeros({2, 3});
  e->set_poison(Poison::kNan);
  EXPECT_TRUE(e->run({x}).at(0).isnan().all().item<bool>());
  e->set_poison(Poison::kHuge);
  const at::Tensor huge = e->run({x}).at(0);
  EXPECT_TRUE(huge.gt(1e36).all().item<bool>());
  EXPECT_TRUE(huge.isfinite().all().item<bool>());
}

TEST(Executor, PoisonIsNanOrHugeToEveryFloatingType) {
  for (const auto type : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    const auto as_type = [&](Poison poison) {
      return at::full({2}, static_cast<std::int64_t>(word_of(poison)), at::kInt).view(type).to(at::kDouble);
    };
    EXPECT_TRUE(as_type(Poison::kNan).isnan().all().item<bool>()) << type;
    EXPECT_TRUE(as_type(Poison::kHuge).gt(50'000).all().item<bool>()) << type;
    EXPECT_TRUE(as_type(Poison::kHuge).isfinite().all().item<bool>()) << type;
  }
}

// w2 = w + w in prepare, and forward is given its first element alone.
TEST(Executor, WhatPrepareMadeIsAllOfTheMemoryThatForwardCanReach) {
  Parts parts;
  parts.tensors = {{{1}, {1}}, {{3}, {1}}, {{3}, {1}}, {{1}, {1}, 2}, {{1}, {1}}};
  parts.parameters = R"([["w", 1]])";
  parts.prepare =
      R"([{"op": "aten::add.Tensor", "args": [{"t": 1}, {"t": 1}], "kwargs": {}, "results": [{"t": 2}], "line": 1},
          {"op": "aten::slice.Tensor", "args": [{"t": 2}, 0, 0, 1], "kwargs": {}, "results": [{"t": 3}], "line": 2}])";
  parts.forward =
      R"([{"op": "aten::mul.Tensor", "args": [{"t": 0}, {"t": 3}], "kwargs": {}, "results": [{"t": 4}], "line": 3}])";
  parts.outputs = R"({"t": 4})";
  const auto e = ready(parts, {at::ones({3})});
  const std::vector<at::Tensor> made = e->prepared();
  ASSERT_EQ(made.size(), 1U);
  EXPECT_TRUE(made[0].equal(at::full({3}, 2.0F)));
}

TEST(Executor, LaunchesNeedAGpu) {
  Parts parts = relu();
  parts.forward = "[" + plans::scale_launch(0, 1, 2, 6) + "]";
  EXPECT_EQ(kind_of([&] { plans::executor(parts, kCpu); }), "needs_gpu");
}

TEST(Executor, NamesTheLibraryOperatorsThatCompute) {
  Parts parts = relu();
  parts.tensors.push_back({{3, 2}, {2, 1}, 1});
  parts.forward = R"([{"op": "aten::relu", "args": [{"t": 0}], "kwargs": {}, "results": [{"t": 1}], "line": 7},
    {"op": "aten::view", "args": [{"t": 1}, [3, 2]], "kwargs": {}, "results": [{"t": 2}], "line": 8}])";
  parts.outputs = R"({"t": 2})";
  const auto e = ready(parts);
  EXPECT_THAT(e->library_operators(), ElementsAre("aten::relu"));
  EXPECT_EQ(e->launches(), 0);
  EXPECT_TRUE(e->run({at::ones({2, 3})}).at(0).equal(at::ones({3, 2})));
}

TEST(Executor, ObserversSeeEveryStepInOrder) {
  const auto e = ready(relu());
  std::vector<int> seen;
  int ended = 0;
  e->run_observed(
      {at::zeros({2, 3})}, [&](int step) { seen.push_back(step); }, [&] { ++ended; });
  EXPECT_THAT(seen, ElementsAre(0));
  EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace kagent::execute
