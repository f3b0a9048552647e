// A plan's forward steps as one CUDA graph.
//
// Replays never give a stale result: where an input or output is touched by the plan's own launches only (and by
// views), its address is patched into those nodes at each call; where a library call stands in the way, or an input is
// returned, the input is copied into the graph's own buffer (and back, if a step may write to it), or the output out of
// it, by copies that are nodes of the graph themselves (so that one call starts it all) and whose addresses are
// patched.
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
  // Fills the memory of its own that outlives a replay, the outputs', with `word`.
  void scrub(std::uint32_t word, CUstream stream);

 private:
  struct Node {
    CUgraphNode node;
    PreparedLaunch* launch;
    bool patched = false;
    std::vector<void*> addresses = {};  // what the graph's node has; patched only when they change
  };
  // A copy between the caller's memory and the graph's, by input or output index.
  struct Copy {
    CUgraphNode node;
    std::size_t index;
    const void* to;  // what the graph's node has
    const void* from;
  };
  void decide();
  void warm_up();
  void capture(const std::vector<at::Tensor>& inputs);
  void set_copy(Copy& copy, const at::Tensor& to, const at::Tensor& from);
  void capture_copies_in(const std::vector<at::Tensor>& inputs, CUstream stream);
  void capture_copies_back(const std::vector<at::Tensor>& inputs, CUstream stream);
  void capture_copies_out(CUstream stream);
  [[nodiscard]] bool library_touches(plan::TensorId root) const;
  [[nodiscard]] bool may_write(plan::TensorId root) const;

  Executor& executor_;
  std::vector<at::Tensor> own_inputs_;  // the graph's buffers
  std::vector<bool> patch_input_;       // else copied
  std::vector<bool> copy_back_;         // of the copied inputs, those that a step may write to
  std::vector<bool> patch_output_;      // else copied out
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
  std::vector<Node> nodes_;              // one a launch
  std::vector<Copy> copies_in_;          // of the copied inputs that a plain copy of bytes does for
  std::vector<Copy> copies_back_;        // likewise, back to the caller's
  std::vector<Copy> copies_out_;         // likewise of the outputs
  std::vector<char*> addresses_;         // of every tensor that the steps made, by plan id, as captured
  std::vector<at::Tensor> own_outputs_;  // the graph's output memory
};

}  // namespace kagent::execute
