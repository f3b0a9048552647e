#include "harness/execute/executor.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <random>
#include <set>

#include "harness/execute/graph.h"
#include "harness/execute/run_error.h"
#include "harness/execute/stand_in.h"

namespace kagent::execute {
namespace {

using plan::TensorId;

std::size_t index(TensorId id) { return static_cast<std::size_t>(id); }

// The plan's own TF32 setting for library matmuls, for the time of a run. cuDNN keeps torch's default (allowed).
class Precision {
 public:
  explicit Precision(bool tf32) : before_(at::globalContext().float32MatmulPrecision()) {
    at::globalContext().setFloat32MatmulPrecision(tf32 ? "high" : "highest");
  }
  ~Precision() {
    at::globalContext().setFloat32MatmulPrecision(before_ == at::Float32MatmulPrecision::HIGHEST ? "highest"
                                                  : before_ == at::Float32MatmulPrecision::HIGH  ? "high"
                                                                                                 : "medium");
  }
  Precision(const Precision&) = delete;
  Precision& operator=(const Precision&) = delete;

 private:
  at::Float32MatmulPrecision before_;
};

void leaves(const plan::Tree& tree, std::vector<TensorId>& out) {
  if (tree.kind == plan::Tree::Kind::kTensor) out.push_back(tree.tensor);
  for (const auto& [key, child] : tree.children) leaves(child, out);
}

// As 32-bit words from its begin to its end.
void fill_storage(const c10::Storage& storage, std::uint32_t word) {
  const auto bytes = static_cast<std::int64_t>(storage.nbytes());
  char* begin = static_cast<char*>(storage.mutable_data());
  const auto part = [&](std::int64_t at, std::int64_t count, c10::ScalarType type) {
    return at::from_blob(begin + at, {count}, at::TensorOptions().dtype(type).device(storage.device()));
  };
  if (bytes >= 4) part(0, bytes / 4, c10::kInt).fill_(static_cast<std::int32_t>(word));
  for (std::int64_t at = bytes / 4 * 4; at < bytes; ++at)
    part(at, 1, c10::kByte).fill_(static_cast<std::int64_t>(word >> (8 * (at % 4)) & 0xff));
}

at::Tensor constant_tensor(const plan::Tensor& t, const std::string& bytes, const c10::Device& device) {
  const auto type = t.dtype == "float32"    ? c10::kFloat
                    : t.dtype == "float64"  ? c10::kDouble
                    : t.dtype == "float16"  ? c10::kHalf
                    : t.dtype == "bfloat16" ? c10::kBFloat16
                    : t.dtype == "int64"    ? c10::kLong
                    : t.dtype == "int32"    ? c10::kInt
                    : t.dtype == "int16"    ? c10::kShort
                    : t.dtype == "int8"     ? c10::kChar
                    : t.dtype == "uint8"    ? c10::kByte
                                            : c10::kBool;
  return at::from_blob(const_cast<char*>(bytes.data()), t.shape, at::TensorOptions().dtype(type))
      .to(device, /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace

Executor::Executor(plan::Plan plan, const plan::Kernels& kernels, const std::string& cubin, const c10::Device& device,
                   const std::optional<Emulation>& emulation)
    : plan_(std::move(plan)),
      lifetimes_(plan::lifetimes(plan_)),
      device_(device),
      graph_on_(plan_.graph && device.is_cuda()),
      kernels_(kernels) {
  const auto launches = [](const std::vector<plan::Step>& steps) {
    return std::any_of(steps.begin(), steps.end(),
                       [](const plan::Step& s) { return std::holds_alternative<plan::Launch>(s.what); });
  };
  if (launches(plan_.prepare) || launches(plan_.forward)) {
    if (device.is_cuda()) {
      C10_CUDA_CHECK(cudaFree(nullptr));  // makes the device's primary context current, if nothing has yet
      module_ = std::make_unique<KernelModule>(cubin);
    } else if (emulation) {
      program_ = std::make_unique<EmulatedProgram>(*emulation);
    } else {
      throw RunError("needs_gpu", "the plan launches kernels and there is no GPU here");
    }
  }
  environment_.resize(plan_.tensors.size());
  lasting_.resize(plan_.tensors.size());
  prepare_ = resolve(plan_.prepare, kernels);
  forward_ = resolve(plan_.forward, kernels);
  for (const plan::Value& v : plan_.inputs) {
    if (const auto* t = std::get_if<plan::TensorRef>(&v.data)) inputs_.push_back(t->id);
  }
  leaves(plan_.outputs, outputs_);
  for (const auto& [id, bytes] : plan_.constants) {
    environment_[index(id)] = constant_tensor(plan_.tensors[index(id)], bytes, device_);
    lasting_[index(id)] = true;
  }
}

Executor::~Executor() = default;

std::vector<Executor::Work> Executor::resolve(const std::vector<plan::Step>& steps, const plan::Kernels& kernels) {
  std::vector<Work> out;
  out.reserve(steps.size());
  for (const plan::Step& step : steps) {
    if (const auto* op = std::get_if<plan::Operator>(&step.what)) {
      out.emplace_back(std::in_place_type<OperatorCall>, *op, device_, step.line);
    } else {
      const auto& launch = std::get<plan::Launch>(step.what);
      const auto kernel = kernels.find(launch.kernel);
      if (kernel == kernels.end()) throw RunError("launch_error", "no kernel " + launch.kernel, step.line);
      if (module_) {
        out.emplace_back(std::in_place_type<PreparedLaunch>, launch, kernel->second, *module_, step.line);
      } else {
        out.emplace_back(std::in_place_type<EmulatedLaunch>, launch, kernel->second, *program_, step.line);
      }
    }
  }
  return out;
}

void Executor::place(TensorId id, const at::Tensor& tensor, const char* what) {
  const plan::Tensor& planned = plan_.tensors[index(id)];
  if (tensor.sizes() != at::IntArrayRef(planned.shape))
    throw RunError("wrong_input", std::string(what) + " has another shape than planned");
  if (tensor.device().type() != device_.type())
    throw RunError("wrong_input", std::string(what) + " is on another device");
  for (std::size_t d = 0; d < planned.shape.size(); ++d) {
    if (planned.shape[d] != 1 && tensor.stride(static_cast<std::int64_t>(d)) != planned.stride[d]) {
      throw RunError("wrong_input", std::string(what) + " has other strides than planned");
    }
  }
  environment_[index(id)] = tensor;
}

void Executor::bind(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& buffers,
                    const std::vector<at::Tensor>& state) {
  const auto all = [&](const std::vector<std::pair<std::string, TensorId>>& names,
                       const std::vector<at::Tensor>& tensors) {
    if (names.size() != tensors.size())
      throw RunError("wrong_input",
                     "the model has another number of parameters, buffers or state tensors than the plan");
    for (std::size_t i = 0; i < names.size(); ++i) {
      // Some operators choose their way by whether a parameter requires a gradient (matmul folds then): as for eager.
      place(names[i].second, tensors[i].detach().requires_grad_(tensors[i].requires_grad()), names[i].first.c_str());
      lasting_[index(names[i].second)] = true;
    }
  };
  all(plan_.parameters, parameters);
  all(plan_.buffers, buffers);
  all(plan_.state, state);
  prepared_ = false;
  graph_.reset();
}

void Executor::poison(const OperatorCall& call) {
  if (poison_ == Poison::kOff || !call.makes_scratch()) return;
  for (const TensorId id : call.makes) fill_storage(environment_[index(id)].storage(), word_of(poison_));
}

void Executor::run_steps(std::vector<Work>& steps, const std::vector<std::vector<TensorId>>& drop_after,
                         const std::function<void(int)>& begin, const std::function<void()>& end) {
  CUstream stream = device_.is_cuda() ? c10::cuda::getCurrentCUDAStream(device_.index()).stream() : nullptr;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (begin) begin(static_cast<int>(i));
    if (&steps == &forward_ && stand_ins_.count(i) != 0) {
      run_stand_in(i);
    } else if (auto* call = std::get_if<OperatorCall>(&steps[i])) {
      counts_.copied_results += call->run(environment_, plan_.tensors);
      poison(*call);
      if (guards_ != nullptr) guard(*call, plan_.forward[i].line);
    } else if (auto* emulated = std::get_if<EmulatedLaunch>(&steps[i])) {
      emulated->run(environment_, disturbed_);
    } else {
      std::get<PreparedLaunch>(steps[i]).run(stream, [this](TensorId id) { return address(id); });
    }
    if (end) end();
    for (const TensorId id : drop_after[i]) environment_[index(id)].reset();
  }
}

void Executor::run_stand_in(std::size_t step) {
  for (const auto& [from, to] : stand_ins_[step]) {
    at::Tensor target = environment_[index(to)];
    target.copy_(environment_[index(from)].reshape(target.sizes()));
  }
}

int Executor::set_stand_in(const std::string& kernel, StandIn stand_in) {
  stand_ins_.clear();
  const bool all = kernel == kAllKernels;
  for (std::size_t i = 0; i < plan_.forward.size() && stand_in != StandIn::kNone; ++i) {
    const auto* launch = std::get_if<plan::Launch>(&plan_.forward[i].what);
    if (launch == nullptr || (launch->kernel != kernel && !all)) continue;
    auto copies = stand_in == StandIn::kCopy ? copies_of(*launch, plan_, kernels_) : Copies();
    if (stand_in == StandIn::kNothing || all || !copies.empty()) stand_ins_[i] = std::move(copies);
  }
  return static_cast<int>(stand_ins_.size());
}

void Executor::guard(const OperatorCall& call, std::optional<int> line) {
  for (const TensorId id : call.makes) {
    const bool mine = plan_.tensors[index(id)].storage == id &&
                      std::find(call.reads.begin(), call.reads.end(), id) == call.reads.end();
    if (!mine) continue;
    std::string what = "the result of " + call.name();
    if (line) what += " at line " + std::to_string(*line);
    environment_[index(id)] = guards_->enclose(environment_[index(id)], std::move(what));
  }
}

std::vector<at::Tensor> Executor::run_guarded(const std::vector<at::Tensor>& inputs, GuardFill fill) {
  Guards guards(fill, device_);
  std::vector<at::Tensor> enclosed;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    enclosed.push_back(guards.enclose(inputs[i], "input " + std::to_string(i)));
  guards_ = &guards;
  std::vector<at::Tensor> out;
  try {
    out = run_observed(enclosed, {}, {});
  } catch (...) {
    guards_ = nullptr;
    throw;
  }
  guards_ = nullptr;
  for (std::size_t i = 0; i < inputs.size(); ++i) at::Tensor(inputs[i]).copy_(enclosed[i]);  // what was written to them
  if (const auto where = guards.broken()) {
    throw RunError("out_of_bounds", "a kernel wrote " + *where + ": an index is out of range");
  }
  return out;
}

std::vector<at::Tensor> Executor::prepared() const {
  std::vector<at::Tensor> out;
  std::set<const void*> seen;
  for (const TensorId id : lifetimes_.kept) {
    const at::Tensor& made = environment_[index(id)];
    const TensorId root = plan_.tensors[index(id)].storage;
    const auto& kept = lifetimes_.kept;
    const bool own = !lasting_[index(root)] || std::find(kept.begin(), kept.end(), root) != kept.end();
    if (!own) {  // a view of a parameter, a buffer or a constant
      out.push_back(made);
    } else if (seen.insert(made.storage().unsafeGetStorageImpl()).second) {
      const auto bytes = static_cast<std::int64_t>(made.storage().nbytes());
      out.push_back(made.as_strided({bytes / made.element_size()}, {1}, 0));
    }
  }
  return out;
}

std::vector<at::Tensor> Executor::constants() const {
  std::vector<at::Tensor> out;
  for (const auto& [id, bytes] : plan_.constants) out.push_back(environment_[index(id)]);
  return out;
}

void Executor::prepare() {
  const c10::InferenceMode off(false);
  const at::NoGradGuard no_grad;
  const Precision precision(plan_.tf32);
  for (std::size_t i = 0; i < environment_.size(); ++i) {
    if (!lasting_[i]) environment_[i].reset();
  }
  for (const TensorId id : lifetimes_.kept) environment_[index(id)].reset();
  run_steps(prepare_, lifetimes_.drop_after_prepare, {}, {});
  for (const TensorId id : lifetimes_.kept) lasting_[index(id)] = true;
  prepared_ = true;
  graph_.reset();
}

void Executor::place_inputs(const std::vector<at::Tensor>& inputs) {
  if (!prepared_) throw RunError("wrong_input", "prepare has not run since the parameters were bound");
  if (inputs.size() != inputs_.size()) {
    throw RunError("wrong_input", "the plan takes " + std::to_string(inputs_.size()) + " tensors, " +
                                      std::to_string(inputs.size()) + " are given");
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) place(inputs_[i], inputs[i], "an input");
}

// Memory that outlives a call or that the caller owns, or a view of it.
bool Executor::lasts(TensorId id) const {
  const TensorId storage = plan_.tensors[index(id)].storage;
  return lasting_[index(id)] || lasting_[index(storage)] ||
         std::any_of(inputs_.begin(), inputs_.end(), [&](TensorId input) { return input == storage; });
}

void Executor::scrub(Poison poison) {
  if (!device_.is_cuda()) return;
  C10_CUDA_CHECK(cudaDeviceSynchronize());
  if (!scrub_) scrub_ = std::make_unique<Scrub>(device_, module_ ? module_->local_bytes() : 0);
  const std::uint32_t word = word_of(poison);
  const CUstream stream = c10::cuda::getCurrentCUDAStream(device_.index()).stream();
  if (graph_) graph_->scrub(word, stream);
  fill_free_memory(device_, word, stream);
  scrub_->run(word, stream);
}

std::vector<at::Tensor> Executor::take_outputs() {
  std::vector<at::Tensor> out;
  std::set<const void*> seen;
  for (const TensorId id : outputs_) {
    at::Tensor t = environment_[index(id)];
    // Never memory that lasts, nor the same memory twice: a caller may write to what it got.
    if (lasts(id) || !seen.insert(t.storage().unsafeGetStorageImpl()).second) t = t.clone(at::MemoryFormat::Preserve);
    out.push_back(std::move(t));
  }
  return out;
}

void Executor::clear_forward() {
  for (std::size_t i = 0; i < environment_.size(); ++i) {
    if (!lasting_[i]) environment_[i].reset();
  }
}

std::vector<at::Tensor> Executor::run_observed(const std::vector<at::Tensor>& inputs,
                                               const std::function<void(int)>& begin,
                                               const std::function<void()>& end) {
  const at::NoGradGuard no_grad;
  const Precision precision(plan_.tf32);
  clear_forward();
  place_inputs(inputs);
  counts_.copied_results = 0;
  run_steps(forward_, lifetimes_.drop_after_forward, begin, end);
  std::vector<at::Tensor> out = take_outputs();
  clear_forward();
  return out;
}

void Executor::disturb() {
  if (!disturbed_ || !device_.is_cuda()) return;
  if (!disturbance_) disturbance_ = std::make_unique<Disturbance>(device_);
  C10_CUDA_CHECK(cudaDeviceSynchronize());  // the run begins right after it
  disturbance_->start(std::random_device()());
}

std::vector<at::Tensor> Executor::run(const std::vector<at::Tensor>& inputs) {
  if (!graph_on_ || !stand_ins_.empty()) {
    disturb();
    return run_observed(inputs, {}, {});
  }
  if (!graph_) {
    const Precision precision(plan_.tf32);
    place_inputs(inputs);  // the checks of the first call
    graph_ = std::make_unique<Graph>(*this, inputs);
  }
  disturb();
  return graph_->replay(inputs);
}

void Executor::set_graph(bool on) {
  graph_on_ = on && device_.is_cuda();
  graph_.reset();
}

void Executor::set_poison(Poison poison) {
  if (poison != poison_) graph_.reset();  // the fills are steps of the graph
  poison_ = poison;
}

std::vector<std::string> Executor::library_operators() const {
  std::set<std::string> names;
  for (const Work& work : forward_) {
    const auto* call = std::get_if<OperatorCall>(&work);
    if (call != nullptr && !call->makes_scratch() && !call->only_views(plan_.tensors)) names.insert(call->name());
  }
  return {names.begin(), names.end()};
}

int Executor::launches() const {
  return static_cast<int>(std::count_if(forward_.begin(), forward_.end(),
                                        [](const Work& w) { return !std::holds_alternative<OperatorCall>(w); }));
}

}  // namespace kagent::execute
