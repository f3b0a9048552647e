// Small plans for the executor's tests, written as their JSON, and one kernel as PTX (so that no compiler is needed).
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "harness/execute/executor.h"

namespace kagent::execute::plans {

// A float32 tensor's row of the plan's table; `storage` < 0: the id itself is added by plan_text.
struct Row {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> stride;
  int storage = -1;
  std::int64_t offset = 0;
};

// The parts of a plan that differ between tests; the rest is empty. Steps and outputs are JSON.
struct Parts {
  std::vector<Row> tensors;
  std::string inputs = R"([{"t": 0}])";
  std::string parameters = "[]";
  std::string buffers = "[]";
  std::string state = "[]";
  std::string prepare = "[]";
  std::string forward = "[]";
  std::string outputs;
  bool graph = true;
};

// out[i] = factor * in[i] for i < n: scale(in, out, factor, n).
std::string scale_launch(int in, int out, double factor, int n);

bool has_gpu();
c10::Device gpu();

// Fails the test when the plan cannot be read. Throws what Executor throws.
std::unique_ptr<Executor> executor(const Parts& parts, const c10::Device& device);

}  // namespace kagent::execute::plans
