// A plan's forward steps as one CUDA graph.
//
// Replays never give a stale result: where an input or output is touched by the plan's own launches only (and by
// views), its address is patched into those nodes at each call; where a library call stands in the way, the input is
// copied into the graph's own buffer, or the output out of it.
#pragma once

#include <ATen/cuda/CUDAGraph.h>
#include <cuda.h>

#include <memory>
#include <vector>

#include "harness/execute/executor.h"

namespace kagent::execute {

class Graph {
 public:
  // Warms up and captures. Throws RunError(not_capturable) when a step cannot be captured.
  Graph(Executor& executor, const std::vector<at::Tensor>& inputs);

  std::vector<at::Tensor> replay(const std::vector<at::Tensor>& inputs);

 private:
  struct Node {
    CUgraphNode node;
    PreparedLaunch* launch;
    bool patched = false;
  };
  void decide();
  void warm_up(const std::vector<at::Tensor>& inputs);
  void capture();
  [[nodiscard]] bool library_touches(plan::TensorId root) const;

  Executor& executor_;
  std::vector<at::Tensor> own_inputs_;  // the graph's buffers
  std::vector<bool> patch_input_;       // else copied
  std::vector<bool> patch_output_;      // else copied out
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
  std::vector<Node> nodes_;              // one a launch
  std::vector<char*> addresses_;         // of every tensor that the steps made, by plan id, as captured
  std::vector<at::Tensor> own_outputs_;  // the graph's output memory
};

}  // namespace kagent::execute
