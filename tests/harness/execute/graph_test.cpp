// Launches and CUDA graphs, on a GPU: results are those of this call's inputs, in memory of their own.
#include "harness/execute/graph.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/execute/run_error.h"
#include "tests/harness/execute/plans.h"

namespace kagent::execute {
namespace {

using plans::Parts;

constexpr std::int64_t kRows = 4;
constexpr std::int64_t kColumns = 64;
constexpr int kElements = 256;

class GraphTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!plans::has_gpu()) GTEST_SKIP() << "needs a GPU";
  }

  static at::Tensor random() { return at::randn({kRows, kColumns}, at::TensorOptions().device(plans::gpu())); }

  static std::unique_ptr<Executor> ready(const Parts& parts, const std::vector<at::Tensor>& parameters = {},
                                         const std::vector<at::Tensor>& buffers = {}) {
    auto e = plans::executor(parts, plans::gpu());
    e->bind(parameters, buffers, {});
    e->prepare();
    return e;
  }

  // Several calls on fresh inputs: each right, and right still after the later ones.
  static void expect_right(Executor& e, const std::function<at::Tensor(const at::Tensor&)>& expected) {
    std::vector<std::pair<at::Tensor, at::Tensor>> all;
    for (int call = 0; call < 5; ++call) {
      const at::Tensor x = random();
      all.emplace_back(e.run({x}).at(0), expected(x));
    }
    for (const auto& [got, wanted] : all) EXPECT_TRUE(got.equal(wanted));
  }
};

std::string op(const char* name, const char* args, int result) {
  return std::string(R"({"op": ")") + name + R"(", "args": )" + args + R"(, "kwargs": {}, "results": [{"t": )" +
         std::to_string(result) + R"(}], "line": 1})";
}

const plans::Row kMatrix{{kRows, kColumns}, {kColumns, 1}};

// y = empty; scale(x, y, 3).
Parts launch_only() {
  return {
      .tensors = {kMatrix, kMatrix},
      .forward = "[" + op("aten::empty_like", R"([{"t": 0}])", 1) + "," + plans::scale_launch(0, 1, 3, kElements) + "]",
      .outputs = R"({"t": 1})"};
}

// The same, and returned is row 2 of x (`tensor` 0) or of y (1), a view.
Parts row_of(int tensor) {
  Parts parts = launch_only();
  parts.tensors.push_back({{kColumns}, {1}, tensor, 2 * kColumns});
  parts.forward.pop_back();
  parts.forward += "," + op("aten::select.int", (R"([{"t": )" + std::to_string(tensor) + "}, 0, 2]").c_str(), 2) + "]";
  parts.outputs = R"({"t": 2})";
  return parts;
}

// h = relu(x); s = empty; scale(h, s, 3); y = relu(s).
Parts between_operators() {
  return {.tensors = {kMatrix, kMatrix, kMatrix, kMatrix},
          .forward = "[" + op("aten::relu", R"([{"t": 0}])", 1) + "," + op("aten::empty_like", R"([{"t": 1}])", 2) +
                     "," + plans::scale_launch(1, 2, 3, kElements) + "," + op("aten::relu", R"([{"t": 2}])", 3) + "]",
          .outputs = R"({"t": 3})"};
}

TEST_F(GraphTest, ALaunchWithoutAGraph) {
  Parts parts = launch_only();
  parts.graph = false;
  const auto e = ready(parts);
  EXPECT_FALSE(e->uses_graph());
  expect_right(*e, [](const at::Tensor& x) { return x * 3; });
}

TEST_F(GraphTest, AddressesOfInputsAndOutputsThatOnlyLaunchesTouchArePatched) {
  const auto e = ready(launch_only());
  expect_right(*e, [](const at::Tensor& x) { return x * 3; });
  EXPECT_EQ(e->counts().patched_nodes, 1);
  EXPECT_EQ(e->counts().copied_inputs, 0);
  EXPECT_EQ(e->counts().copied_outputs, 0);
}

TEST_F(GraphTest, WhatALibraryTouchesIsCopiedInAndOut) {
  const auto e = ready(between_operators());
  expect_right(*e, [](const at::Tensor& x) { return (x.relu() * 3).relu(); });
  EXPECT_EQ(e->counts().patched_nodes, 0);
  EXPECT_EQ(e->counts().copied_inputs, 1);
  EXPECT_EQ(e->counts().copied_outputs, 1);
}

TEST_F(GraphTest, InputsOfPermutedStridesAreCopiedAsTheyLie) {
  Parts parts = between_operators();
  for (plans::Row& row : parts.tensors) row.stride = {1, kRows};
  const auto e = ready(parts);
  for (int call = 0; call < 3; ++call) {
    const at::Tensor x = random().reshape({kColumns, kRows}).t();
    EXPECT_TRUE(e->run({x}).at(0).equal((x.relu() * 3).relu()));
  }
}

TEST_F(GraphTest, InputsWithHolesAreCopiedByElement) {
  Parts parts = between_operators();
  parts.tensors[0].stride = {2 * kColumns, 2};
  const auto e = ready(parts);
  for (int call = 0; call < 3; ++call) {
    const at::Tensor x =
        at::randn({kRows, 2 * kColumns}, at::TensorOptions().device(plans::gpu())).slice(1, 0, 2 * kColumns, 2);
    EXPECT_TRUE(e->run({x}).at(0).equal((x.relu() * 3).relu()));
  }
}

TEST_F(GraphTest, AnOutputThatIsAViewKeepsItsOffset) {
  expect_right(*ready(row_of(1)), [](const at::Tensor& x) { return (x * 3)[2]; });
}

TEST_F(GraphTest, OutputsAreNeverTheInput) {
  Parts parts = launch_only();
  parts.outputs = R"({"tuple": [{"t": 0}, {"t": 1}, {"t": 1}]})";
  const auto e = ready(parts);
  for (int call = 0; call < 3; ++call) {
    const at::Tensor x = random();
    const auto out = e->run({x});
    EXPECT_TRUE(out.at(0).equal(x));
    EXPECT_FALSE(out.at(0).is_alias_of(x));
    EXPECT_FALSE(out.at(1).is_alias_of(out.at(2)));
    EXPECT_TRUE(out.at(1).equal(x * 3));
    EXPECT_TRUE(out.at(2).equal(x * 3));
  }
}

TEST_F(GraphTest, AViewOfAnInputThatIsReturnedIsOfThisCall) {
  expect_right(*ready(row_of(0)), [](const at::Tensor& x) { return x[2]; });
}

// relu_(x), and y = relu(x) after it: an update by a library, which works on the graph's own copy.
Parts updated_by_an_operator() {
  return {.tensors = {kMatrix, kMatrix},
          .forward = "[" + op("aten::relu_", R"([{"t": 0}])", 0) + "," + op("aten::relu", R"([{"t": 0}])", 1) + "]",
          .outputs = R"({"t": 1})"};
}

TEST_F(GraphTest, WhatAnOperatorWritesToAnInputReachesTheCallersMemory) {
  const auto e = ready(updated_by_an_operator());
  for (int call = 0; call < 3; ++call) {
    const at::Tensor x = random();
    const at::Tensor wanted = x.relu();
    EXPECT_TRUE(e->run({x}).at(0).equal(wanted));
    EXPECT_TRUE(x.equal(wanted));
  }
}

TEST_F(GraphTest, UpdatesOfInputsWithHolesReachTheCallersMemory) {
  Parts parts = updated_by_an_operator();
  parts.tensors[0].stride = {2 * kColumns, 2};
  const auto e = ready(parts);
  for (int call = 0; call < 3; ++call) {
    const at::Tensor all = at::randn({kRows, 2 * kColumns}, at::TensorOptions().device(plans::gpu()));
    const at::Tensor between = all.slice(1, 1, 2 * kColumns, 2).clone();
    const at::Tensor x = all.slice(1, 0, 2 * kColumns, 2);
    const at::Tensor wanted = x.relu();
    e->run({x});
    EXPECT_TRUE(x.equal(wanted));
    EXPECT_TRUE(all.slice(1, 1, 2 * kColumns, 2).equal(between));
  }
}

TEST_F(GraphTest, AnInputThatALaunchUpdatesAndThatIsReturnedIsUpdatedOnce) {
  Parts parts = launch_only();
  parts.forward = "[" + plans::scale_launch(0, 0, 3, kElements) + "]";
  parts.outputs = R"({"t": 0})";
  const auto e = ready(parts);
  for (int call = 0; call < 3; ++call) {
    const at::Tensor x = random();
    const at::Tensor wanted = x * 3;
    const at::Tensor out = e->run({x}).at(0);
    EXPECT_TRUE(out.equal(wanted));
    EXPECT_TRUE(x.equal(wanted));
    EXPECT_FALSE(out.is_alias_of(x));
  }
}

TEST_F(GraphTest, AnInputThatIsOnlyReadIsNotCopiedBack) {
  const auto e = ready(between_operators());
  const at::Tensor x = random();
  const at::Tensor before = x.clone();
  e->run({x});
  EXPECT_TRUE(x.equal(before));
}

TEST_F(GraphTest, CaptureLeavesStateAndEachCallMovesItOnce) {
  Parts parts = launch_only();
  parts.tensors.push_back(kMatrix);
  parts.buffers = R"([["sum", 2]])";
  parts.forward.pop_back();
  parts.forward += "," + op("aten::add_.Tensor", R"([{"t": 2}, {"t": 1}])", 2) + "]";
  const at::Tensor sum = at::zeros({kRows, kColumns}, at::TensorOptions().device(plans::gpu()));
  const auto e = ready(parts, {}, {sum});
  const at::Tensor x = random();
  e->run({x});
  EXPECT_TRUE(sum.equal(x * 3));
  e->run({x});
  EXPECT_TRUE(sum.equal(x * 3 + x * 3));
}

TEST_F(GraphTest, ChangedParametersReachTheNextCall) {
  Parts parts = launch_only();
  parts.tensors.push_back(kMatrix);
  parts.parameters = R"([["w", 2]])";
  parts.prepare =
      R"([{"op": "aten::add.Tensor", "args": [{"t": 2}, {"t": 2}], "kwargs": {}, "results": [{"t": 3}], "line": 1}])";
  parts.tensors.push_back(kMatrix);
  parts.forward.pop_back();
  parts.forward += "," + op("aten::add_.Tensor", R"([{"t": 1}, {"t": 3}])", 1) + "]";
  const at::Tensor w = random();
  const auto e = ready(parts, {w});
  const at::Tensor x = random();
  EXPECT_TRUE(e->run({x}).at(0).equal(x * 3 + (w + w)));
  w.copy_(random());
  e->prepare();
  EXPECT_TRUE(e->run({x}).at(0).equal(x * 3 + (w + w)));
}

TEST_F(GraphTest, PoisonedScratchReachesTheOutput) {
  Parts parts = launch_only();
  parts.forward =
      "[" + op("aten::empty_like", R"([{"t": 0}])", 1) + "," + plans::scale_launch(0, 1, 3, kElements / 2) + "]";
  const auto e = ready(parts);
  e->set_poison(Poison::kNan);
  for (int call = 0; call < 2; ++call) {
    const at::Tensor out = e->run({random()}).at(0).view({-1});
    EXPECT_FALSE(out.slice(0, 0, kElements / 2).isnan().any().item<bool>());
    EXPECT_TRUE(out.slice(0, kElements / 2).isnan().all().item<bool>());
  }
}

TEST_F(GraphTest, AStepThatACaptureForbidsIsNamed) {
  Parts parts = launch_only();
  parts.forward.pop_back();  // nonzero waits for the GPU to learn its result's size
  parts.tensors.push_back({{kRows, kColumns}, {kColumns, 1}});
  parts.forward += "," + op("aten::masked_select", R"([{"t": 1}, {"t": 1}])", 2) + "]";
  const auto e = ready(parts);
  EXPECT_THROW(e->run({random()}), std::exception);
  EXPECT_TRUE(random().isfinite().all().item<bool>());  // the context still works
}

TEST_F(GraphTest, AGridTheDeviceRefusesIsALaunchErrorAtItsLine) {
  Parts parts = launch_only();
  parts.graph = false;
  std::string launch = plans::scale_launch(0, 1, 3, kElements);
  launch.replace(launch.find("[64,1,1]"), 8, "[2048,1,1]");
  parts.forward = "[" + op("aten::empty_like", R"([{"t": 0}])", 1) + "," + launch + "]";
  const auto e = ready(parts);
  try {
    e->run({random()});
    FAIL() << "ran";
  } catch (const RunError& error) {
    EXPECT_EQ(error.kind, "launch_error");
    EXPECT_EQ(error.line, 1);
  }
}

}  // namespace
}  // namespace kagent::execute
