// Runs a plan: operators through torch's dispatcher, kernels through the driver, on torch's current stream; optionally
// as one CUDA graph.
//
// The plan was validated (harness/plan/validate.h) and re-inferred (harness/plan/infer.py) by the caller. One thread at
// a time. Throws RunError.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/execute/disturb.h"
#include "harness/execute/emulated.h"
#include "harness/execute/guards.h"
#include "harness/execute/kernel_module.h"
#include "harness/execute/operator_call.h"
#include "harness/execute/scrub.h"
#include "harness/execute/stand_in.h"
#include "harness/plan/kernels.h"
#include "harness/plan/lifetimes.h"
#include "harness/plan/plan.h"

namespace kagent::execute {

// What memory holds before it is written.
enum class Poison { kOff, kNan, kHuge };  // off: timed runs, which are scrubbed instead

// The 32-bit word that memory is filled with: NaN or a huge number (fmaxf hides NaN) to all of float32, float64,
// float16 and bfloat16. The same whatever a tensor's type, and in poisoned and in scrubbed runs: a kernel that looks
// must not tell one from the other.
constexpr std::uint32_t word_of(Poison poison) { return poison == Poison::kHuge ? 0x7b7b7b7b : 0x7fff7fff; }

// Stands for all kernels of the answer in set_stand_in.
inline constexpr const char* kAllKernels = "*";

struct Counts {
  int copied_results = 0;  // results copied into planned strides in the last run of all steps
  int patched_nodes = 0;   // graph: launches whose addresses are patched at each call
  int copied_inputs = 0;   // graph: inputs copied in at each call
  int copied_outputs = 0;  // graph: outputs copied out at each call
};

class Graph;

class Executor {
 public:
  // `cubin` may be empty for a plan without launches. `device`: where cuda means; on the CPU launches need an
  // emulation.
  Executor(plan::Plan plan, const plan::Kernels& kernels, const std::string& cubin, const c10::Device& device,
           const std::optional<Emulation>& emulation = std::nullopt);
  ~Executor();

  // Tensors in the plan's order; shapes, strides and dtypes as planned. prepare() must follow.
  void bind(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& buffers,
            const std::vector<at::Tensor>& state);
  // Runs the prepare steps again.
  void prepare();
  // `inputs`: the plan's tensor inputs in order. Returns the leaves of the plan's outputs, each a fresh tensor, laid
  // out as planned.
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs);
  // The same without a graph, with begin(step) and end() around each forward step.
  std::vector<at::Tensor> run_observed(const std::vector<at::Tensor>& inputs, const std::function<void(int)>& begin,
                                       const std::function<void()>& end);

  void set_graph(bool on);
  void set_poison(Poison poison);
  // Before a run, on a GPU: nothing of an earlier run is left where this one could read it but what the caller holds
  // (inputs, parameters, state, what prepare made); not kOff. Throws RunError.
  void scrub(Poison poison);
  // Whether half of the GPU's multiprocessors are slowed down while the runs that follow begin; where kernels are
  // emulated, their blocks begin in the opposite order.
  void set_disturbed(bool on) { disturbed_ = on; }
  // For the runs that follow, without a graph, in place of one kernel's launches or of kAllKernels'. Returns how many
  // launches of forward it stands in for; with kCopy those that have an argument to copy from (of all kernels', the
  // others do nothing).
  int set_stand_in(const std::string& kernel, StandIn stand_in);
  // One run without a graph between guard regions that hold `fill`. Throws RunError(out_of_bounds).
  std::vector<at::Tensor> run_guarded(const std::vector<at::Tensor>& inputs, GuardFill fill);
  // What prepare made and forward can reach: all of the memory that its tensors lie in, as flat tensors.
  [[nodiscard]] std::vector<at::Tensor> prepared() const;
  // The plan's constants: like what prepare made, forward may not write to them.
  [[nodiscard]] std::vector<at::Tensor> constants() const;

  [[nodiscard]] const plan::Plan& plan() const { return plan_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] bool uses_graph() const { return graph_on_; }
  [[nodiscard]] std::vector<std::string> library_operators()
      const;                           // of forward, those that compute; sorted, each once
  [[nodiscard]] int launches() const;  // in forward

 private:
  friend class Graph;
  using Work = std::variant<OperatorCall, PreparedLaunch, EmulatedLaunch>;

  std::vector<Work> resolve(const std::vector<plan::Step>& steps, const plan::Kernels& kernels);
  void place(plan::TensorId id, const at::Tensor& tensor, const char* what);
  void place_inputs(const std::vector<at::Tensor>& inputs);
  void run_steps(std::vector<Work>& steps, const std::vector<std::vector<plan::TensorId>>& drop_after,
                 const std::function<void(int)>& begin, const std::function<void()>& end);
  void run_stand_in(std::size_t step);
  void disturb();
  void poison(const OperatorCall& call);
  void guard(const OperatorCall& call, std::optional<int> line);
  [[nodiscard]] bool lasts(plan::TensorId id) const;
  std::vector<at::Tensor> take_outputs();
  void clear_forward();
  void* address(plan::TensorId id) const { return environment_[static_cast<std::size_t>(id)].mutable_data_ptr(); }

  plan::Plan plan_;
  plan::Lifetimes lifetimes_;
  c10::Device device_;
  std::unique_ptr<KernelModule> module_;
  std::unique_ptr<EmulatedProgram> program_;
  std::vector<Work> prepare_;
  std::vector<Work> forward_;
  std::vector<plan::TensorId> inputs_;   // tensor inputs
  std::vector<plan::TensorId> outputs_;  // tensor leaves
  std::vector<at::Tensor> environment_;  // by plan id
  std::vector<bool> lasting_;            // ids that outlive a call: sources and what prepare made
  std::unique_ptr<Graph> graph_;
  bool graph_on_;
  plan::Kernels kernels_;
  bool prepared_ = false;
  Poison poison_ = Poison::kOff;
  std::unique_ptr<Scrub> scrub_;
  bool disturbed_ = false;
  std::unique_ptr<Disturbance> disturbance_;
  std::map<std::size_t, Copies> stand_ins_;  // by step of forward
  Guards* guards_ = nullptr;                 // of the run in progress
  Counts counts_;
};

}  // namespace kagent::execute
