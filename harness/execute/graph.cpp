#include "harness/execute/graph.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>

#include "harness/execute/driver.h"
#include "harness/execute/run_error.h"
#include "harness/plan/launch_check.h"
#include "harness/plan/operators.h"

namespace kagent::execute {
namespace {

using plan::TensorId;

std::size_t index(TensorId id) { return static_cast<std::size_t>(id); }

// The node that the last call on a capturing stream made.
CUgraphNode last_node(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode* nodes = nullptr;
  size_t count = 0;
  check(driver().capture_info(stream, &status, nullptr, nullptr, &nodes, &count), "cuStreamGetCaptureInfo");
  if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1)
    throw RunError("not_capturable", "a launch left no single node in the graph");
  return nodes[0];
}

// All of its elements lie side by side, in some order: a tensor of the same strides takes them as one run of bytes.
bool copies_as_bytes(const at::Tensor& tensor) { return tensor.is_non_overlapping_and_dense() && tensor.nbytes() > 0; }

}  // namespace

bool Graph::library_touches(TensorId root) const {
  const auto& table = executor_.plan_.tensors;
  return std::any_of(executor_.forward_.begin(), executor_.forward_.end(), [&](const Executor::Work& work) {
    const auto* call = std::get_if<OperatorCall>(&work);
    // Views and scratch (empty_like) ask for a tensor's shape, not for its contents.
    if (call == nullptr || call->only_views(table) || call->makes_scratch()) return false;
    const auto in = [&](const std::vector<TensorId>& ids) {
      return std::any_of(ids.begin(), ids.end(), [&](TensorId id) { return table[index(id)].storage == root; });
    };
    return in(call->reads) || in(call->makes);
  });
}

// By an operator, or by a kernel that does not declare its pointer const.
bool Graph::may_write(TensorId root) const {
  const auto& table = executor_.plan_.tensors;
  const auto writes = [&](const plan::Step& step) {
    const auto* op = std::get_if<plan::Operator>(&step.what);
    const auto ids =
        op != nullptr ? plan::written_by(*op) : plan::written_by(std::get<plan::Launch>(step.what), executor_.kernels_);
    return std::any_of(ids.begin(), ids.end(), [&](TensorId id) { return table[index(id)].storage == root; });
  };
  return std::any_of(executor_.plan_.forward.begin(), executor_.plan_.forward.end(), writes);
}

void Graph::decide() {
  const auto& table = executor_.plan_.tensors;
  for (const TensorId id : executor_.inputs_) {
    // Of an input that is returned, or a view of it, the copy out must read what this call gave.
    const bool returned = std::any_of(executor_.outputs_.begin(), executor_.outputs_.end(),
                                      [&](TensorId output) { return table[index(output)].storage == id; });
    patch_input_.push_back(!returned && !library_touches(id));
    copy_back_.push_back(!patch_input_.back() && may_write(id));
  }
  for (std::size_t i = 0; i < executor_.outputs_.size(); ++i) {
    const TensorId root = table[index(executor_.outputs_[i])].storage;
    // Scratch of this call that only launches write, returned once.
    const bool fresh =
        std::any_of(executor_.forward_.begin(), executor_.forward_.end(), [&](const Executor::Work& work) {
          const auto* call = std::get_if<OperatorCall>(&work);
          return call != nullptr && call->makes_scratch() &&
                 std::find(call->makes.begin(), call->makes.end(), root) != call->makes.end();
        });
    const auto shares = std::count_if(executor_.outputs_.begin(), executor_.outputs_.end(),
                                      [&](TensorId other) { return table[index(other)].storage == root; });
    patch_output_.push_back(fresh && shares == 1 && !library_touches(root) && executor_.poison_ == Poison::kOff);
  }
}

Graph::Graph(Executor& executor, const std::vector<at::Tensor>& inputs) : executor_(executor) {
  decide();
  for (const at::Tensor& input : inputs) {
    own_inputs_.push_back(at::empty_strided(input.sizes(), input.strides(), input.options()));
    own_inputs_.back().copy_(input);
  }
  warm_up();
  try {
    capture(inputs);
  } catch (const RunError&) {
    throw;
  } catch (const std::exception& error) {
    std::string what = error.what();
    throw RunError("not_capturable",
                   "the plan cannot be captured as one CUDA graph (use kg.options(graph=False), or another call): " +
                       what.substr(0, what.find('\n')));
  }
  executor_.counts_.patched_nodes =
      static_cast<int>(std::count_if(nodes_.begin(), nodes_.end(), [](const Node& n) { return n.patched; }));
  executor_.counts_.copied_inputs = static_cast<int>(std::count(patch_input_.begin(), patch_input_.end(), false));
  executor_.counts_.copied_outputs = static_cast<int>(std::count(patch_output_.begin(), patch_output_.end(), false));
}

// Libraries choose and allocate at their first calls, which a capture does not allow. State that the steps change is
// put back.
void Graph::warm_up() {
  std::vector<std::pair<at::Tensor, at::Tensor>> saved;
  for (const auto* names : {&executor_.plan_.buffers, &executor_.plan_.state}) {
    for (const auto& [name, id] : *names) {
      const at::Tensor& t = executor_.environment_[index(id)];
      saved.emplace_back(t, t.clone());
    }
  }
  const auto main = c10::cuda::getCurrentCUDAStream(executor_.device_.index());
  main.synchronize();
  {
    const auto side = c10::cuda::getStreamFromPool(false, executor_.device_.index());
    const c10::cuda::CUDAStreamGuard guard(side);
    for (int i = 0; i < 2; ++i) executor_.run_observed(own_inputs_, {}, {});
    side.synchronize();
  }
  for (auto& [tensor, copy] : saved) tensor.copy_(copy);
  main.synchronize();
}

void Graph::set_copy(Copy& copy, const at::Tensor& to, const at::Tensor& from) {
  if (copy.to == to.const_data_ptr() && copy.from == from.const_data_ptr()) return;
  copy.to = to.const_data_ptr();
  copy.from = from.const_data_ptr();
  C10_CUDA_CHECK(cudaGraphExecMemcpyNodeSetParams1D(graph_->raw_cuda_graph_exec(), copy.node, to.mutable_data_ptr(),
                                                    copy.from, to.nbytes(), cudaMemcpyDeviceToDevice));
}

void Graph::capture_copies_in(const std::vector<at::Tensor>& inputs, CUstream stream) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (patch_input_[i] || !copies_as_bytes(inputs[i])) continue;
    C10_CUDA_CHECK(cudaMemcpyAsync(own_inputs_[i].mutable_data_ptr(), inputs[i].const_data_ptr(), inputs[i].nbytes(),
                                   cudaMemcpyDeviceToDevice, stream));
    copies_in_.push_back({last_node(stream), i, own_inputs_[i].const_data_ptr(), inputs[i].const_data_ptr()});
  }
}

void Graph::capture_copies_back(const std::vector<at::Tensor>& inputs, CUstream stream) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!copy_back_[i] || !copies_as_bytes(inputs[i])) continue;
    C10_CUDA_CHECK(cudaMemcpyAsync(inputs[i].mutable_data_ptr(), own_inputs_[i].const_data_ptr(), inputs[i].nbytes(),
                                   cudaMemcpyDeviceToDevice, stream));
    copies_back_.push_back({last_node(stream), i, inputs[i].const_data_ptr(), own_inputs_[i].const_data_ptr()});
  }
}

// The target is where each call's fresh output will be; for now any memory of the size.
void Graph::capture_copies_out(CUstream stream) {
  for (std::size_t i = 0; i < executor_.outputs_.size(); ++i) {
    const at::Tensor& output = executor_.environment_[index(executor_.outputs_[i])];
    if (patch_output_[i] || !copies_as_bytes(output)) continue;
    const at::Tensor target = at::empty_like(output, at::MemoryFormat::Preserve);
    C10_CUDA_CHECK(cudaMemcpyAsync(target.mutable_data_ptr(), output.const_data_ptr(), output.nbytes(),
                                   cudaMemcpyDeviceToDevice, stream));
    copies_out_.push_back({last_node(stream), i, target.const_data_ptr(), output.const_data_ptr()});
  }
}

void Graph::capture(const std::vector<at::Tensor>& inputs) {
  Executor& e = executor_;
  const at::NoGradGuard no_grad;
  e.clear_forward();
  e.place_inputs(own_inputs_);
  e.counts_.copied_results = 0;
  const auto side = c10::cuda::getStreamFromPool(false, e.device_.index());
  const c10::cuda::CUDAStreamGuard guard(side);
  graph_ = std::make_unique<at::cuda::CUDAGraph>(/*keep_graph=*/true);
  graph_->capture_begin();
  addresses_.resize(e.environment_.size());
  try {
    capture_copies_in(inputs, side.stream());
    for (std::size_t i = 0; i < e.forward_.size(); ++i) {
      if (auto* call = std::get_if<OperatorCall>(&e.forward_[i])) {
        e.counts_.copied_results += call->run(e.environment_, e.plan_.tensors);
        e.poison(*call);
        for (const TensorId id : call->makes) addresses_[index(id)] = static_cast<char*>(e.address(id));
      } else {
        auto& launch = std::get<PreparedLaunch>(e.forward_[i]);
        launch.run(side.stream(), [&](TensorId id) { return e.address(id); });
        nodes_.push_back({last_node(side.stream()), &launch});
      }
      // Freed memory is used again inside the graph, as it is without one; addresses stay in `captured_` as views of
      // it.
      for (const TensorId id : e.lifetimes_.drop_after_forward[i]) e.environment_[index(id)].reset();
    }
    capture_copies_back(inputs, side.stream());
    capture_copies_out(side.stream());
    graph_->capture_end();
  } catch (...) {
    try {
      graph_->capture_end();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the capture is broken already; the first error is the one to tell
    }
    throw;
  }
  graph_->instantiate();
  for (const TensorId id : e.outputs_) own_outputs_.push_back(e.environment_[index(id)]);
  const auto& table = e.plan_.tensors;
  const auto patched_root = [&](TensorId id) {
    const TensorId root = table[index(id)].storage;
    for (std::size_t i = 0; i < e.inputs_.size(); ++i) {
      if (e.inputs_[i] == root && patch_input_[i]) return true;
    }
    for (std::size_t i = 0; i < e.outputs_.size(); ++i) {
      if (table[index(e.outputs_[i])].storage == root && patch_output_[i]) return true;
    }
    return false;
  };
  for (Node& node : nodes_) {
    for (std::size_t id = 0; id < table.size() && !node.patched; ++id) {
      node.patched = node.launch->uses(static_cast<TensorId>(id)) && patched_root(static_cast<TensorId>(id));
    }
  }
  e.clear_forward();
}

std::vector<at::Tensor> Graph::replay(const std::vector<at::Tensor>& inputs) {
  Executor& e = executor_;
  const at::NoGradGuard no_grad;
  e.place_inputs(inputs);
  const auto& table = e.plan_.tensors;
  // Bytes by which every address within a patched storage moves.
  std::vector<std::pair<TensorId, std::ptrdiff_t>> moved;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (patch_input_[i]) {
      moved.emplace_back(e.inputs_[i],
                         static_cast<char*>(inputs[i].data_ptr()) - static_cast<char*>(own_inputs_[i].data_ptr()));
    } else if (!copies_as_bytes(own_inputs_[i])) {
      own_inputs_[i].copy_(inputs[i], /*non_blocking=*/true);
    }
  }
  for (Copy& copy : copies_in_) {
    set_copy(copy, own_inputs_[copy.index], inputs[copy.index]);
  }
  for (Copy& copy : copies_back_) {
    set_copy(copy, inputs[copy.index], own_inputs_[copy.index]);
  }
  std::vector<at::Tensor> outputs(e.outputs_.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!patch_output_[i]) continue;
    const TensorId root = table[index(e.outputs_[i])].storage;
    const plan::Tensor& planned = table[index(root)];
    const plan::Tensor& view = table[index(e.outputs_[i])];
    const at::Tensor fresh = at::empty_strided(planned.shape, planned.stride, own_outputs_[i].options());
    moved.emplace_back(root, static_cast<char*>(fresh.data_ptr()) - addresses_[index(root)]);
    outputs[i] = fresh.as_strided(view.shape, view.stride, view.offset);
  }
  for (Copy& copy : copies_out_) {
    outputs[copy.index] = at::empty_like(own_outputs_[copy.index], at::MemoryFormat::Preserve);
    set_copy(copy, outputs[copy.index], own_outputs_[copy.index]);
  }
  for (Node& node : nodes_) {
    if (!node.patched) continue;
    node.launch->fill([&](TensorId id) -> void* {
      for (std::size_t i = 0; i < e.inputs_.size(); ++i) {
        if (e.inputs_[i] == id)
          return static_cast<char*>(patch_input_[i] ? inputs[i].data_ptr() : own_inputs_[i].data_ptr());
      }
      // What the steps made has its captured address; parameters and what prepare made are where they are.
      char* at = addresses_[index(id)] != nullptr ? addresses_[index(id)] : static_cast<char*>(e.address(id));
      for (const auto& [root, bytes] : moved) {
        if (table[index(id)].storage == root) at += bytes;
      }
      return at;
    });
    std::vector<void*> addresses = node.launch->addresses();
    if (addresses == node.addresses) continue;
    node.addresses = std::move(addresses);
    CUDA_KERNEL_NODE_PARAMS params = node.launch->node_params();
    check(driver().set_node_params(graph_->raw_cuda_graph_exec(), node.node, &params),
          "cuGraphExecKernelNodeSetParams");
  }
  // Not torch's own replay: it prepares random numbers, which no plan draws.
  C10_CUDA_CHECK(
      cudaGraphLaunch(graph_->raw_cuda_graph_exec(), c10::cuda::getCurrentCUDAStream(e.device_.index()).stream()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (copy_back_[i] && !copies_as_bytes(inputs[i]))
      at::Tensor(inputs[i]).copy_(own_inputs_[i], /*non_blocking=*/true);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined()) outputs[i] = own_outputs_[i].clone(at::MemoryFormat::Preserve);
  }
  e.clear_forward();
  return outputs;
}

void Graph::scrub(std::uint32_t word, CUstream stream) {
  for (std::size_t i = 0; i < own_outputs_.size(); ++i) {
    if (executor_.lasts(executor_.outputs_[i])) continue;
    const c10::Storage& storage = own_outputs_[i].storage();
    const auto begin = reinterpret_cast<std::size_t>(storage.mutable_data());
    fill_words(begin, begin + storage.nbytes(), word, stream);
  }
}

}  // namespace kagent::execute
