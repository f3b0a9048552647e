#include "harness/plan/validate.h"

#include <set>
#include <string>
#include <vector>

#include "harness/plan/dtype.h"
#include "harness/plan/launch_check.h"

namespace kagent::plan {
namespace {

// Where a storage comes from decides who may read, write and return it.
enum class Origin { kNone, kInput, kParameter, kBuffer, kState, kConstant, kPrepared, kComputed };
enum class Phase { kPrepare, kForward };

constexpr const char* kOriginText[] = {"nothing", "an input",   "a parameter",       "a buffer",
                                       "state",   "a constant", "what prepare made", "a result"};

std::size_t at(TensorId id) { return static_cast<std::size_t>(id); }

// Follows the plan from its sources to its outputs. Each function returns the first problem it meets.
class Walk {
 public:
  Walk(const Plan& plan, const Kernels& kernels, const Device& device, const Operators& operators, Mode mode)
      : plan_(plan),
        kernels_(kernels),
        device_(device),
        operators_(operators),
        mode_(mode),
        defined_(plan.tensors.size()),
        origins_(plan.tensors.size(), Origin::kNone) {}

  std::optional<Problem> run() {
    if (auto problem = sources()) return problem;
    for (const Phase phase : {Phase::kPrepare, Phase::kForward}) {
      phase_ = phase;
      for (const Step& step : phase == Phase::kPrepare ? plan_.prepare : plan_.forward) {
        if (auto problem = one_step(step)) {
          problem->line = step.line;
          return problem;
        }
      }
    }
    if (auto problem = outputs(plan_.outputs)) return problem;
    for (const auto& [name, id] : plan_.tags) {
      if (!defined_[at(id)]) return Problem{"unknown_tensor", "tag " + in_quotes(name) + " names no tensor", {}};
    }
    if (mode_ != Mode::kReference && !launches_) {
      return Problem{"no_kernel", "forward launches no kernel of the answer: use kg.launch", {}};
    }
    return std::nullopt;
  }

 private:
  using Maybe = std::optional<Problem>;

  static std::string named(TensorId id) { return "tensor " + std::to_string(id); }
  static Problem wrong(const char* kind, std::string message) { return {kind, std::move(message), std::nullopt}; }
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return plan_.tensors[at(id)]; }
  [[nodiscard]] Origin origin(TensorId id) const { return origins_[at(tensor(id).storage)]; }

  // Sources: tensors that are there before any step.
  Maybe sources() {
    for (const Value& input : plan_.inputs) {
      const auto* ref = std::get_if<TensorRef>(&input.data);
      if (ref == nullptr) continue;
      if (auto problem = source(ref->id, Origin::kInput)) return problem;
    }
    const std::pair<const std::vector<std::pair<std::string, TensorId>>*, Origin> groups[] = {
        {&plan_.parameters, Origin::kParameter}, {&plan_.buffers, Origin::kBuffer}, {&plan_.state, Origin::kState}};
    for (const auto& [group, kind] : groups) {
      for (const auto& [name, id] : *group) {
        if (auto problem = source(id, kind)) return problem;
      }
    }
    for (const auto& [id, bytes] : plan_.constants) {
      if (auto problem = source(id, Origin::kConstant)) return problem;
      const std::int64_t size = element_count(tensor(id)) * dtype_bytes(tensor(id).dtype);
      if (!is_contiguous(tensor(id)) || tensor(id).offset != 0 || size != static_cast<std::int64_t>(bytes.size())) {
        return wrong("bad_constant", named(id) + " is a constant of " + std::to_string(bytes.size()) +
                                         " bytes, but its shape and dtype ask for " + std::to_string(size) +
                                         " contiguous ones");
      }
    }
    return std::nullopt;
  }

  Maybe source(TensorId id, Origin kind) {
    if (defined_[at(id)]) return wrong("bad_id", named(id) + " is defined twice");
    if (tensor(id).storage != id) {
      return wrong("bad_view", named(id) + " is " + kOriginText[static_cast<int>(kind)] + " and must own its storage");
    }
    define(id, kind);
    return std::nullopt;
  }

  void define(TensorId id, Origin kind) {
    defined_[at(id)] = true;
    if (tensor(id).storage == id) origins_[at(id)] = kind;
  }

  Maybe one_step(const Step& step) {
    if (const auto* op = std::get_if<Operator>(&step.what)) return operation(*op);
    return launch(std::get<Launch>(step.what));
  }

  Maybe operation(const Operator& op) {
    const std::string name = Operators::full_name(op);
    if (!operators_.allows(op)) {
      return wrong("operator_not_allowed", "operator " + in_quotes(name) + " is not allowed in a plan");
    }
    const std::vector<TensorId> arguments = arguments_of(op);
    if (auto problem = reads(arguments)) return problem;
    for (const TensorId id : written_by(op)) {
      if (auto problem = writes(id, "operator " + in_quotes(name) + " writes to", "")) return problem;
    }
    const std::set<TensorId> own(arguments.begin(), arguments.end());
    std::set<TensorId> storages;  // that a result may share: those of the arguments and of the results before it
    for (const TensorId id : arguments) storages.insert(tensor(id).storage);
    for (const TensorId id : results_of(op)) {
      if (auto problem = result(id, name, own, storages)) return problem;
      storages.insert(tensor(id).storage);
    }
    return std::nullopt;
  }

  Maybe reads(const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) {
      if (!defined_[at(id)]) return wrong("unknown_tensor", named(id) + " is used before any step makes it");
      if (phase_ == Phase::kPrepare && origin(id) == Origin::kInput) {
        return wrong("prepare_reads_input", "prepare uses an input: it may use parameters, buffers and state only");
      }
    }
    return std::nullopt;
  }

  Maybe writes(TensorId id, const std::string& who, const std::string& advice) {
    const Origin kind = origin(id);
    const std::string what = who + " " + kOriginText[static_cast<int>(kind)];
    if (kind == Origin::kParameter || kind == Origin::kConstant) return wrong("writes_parameter", what + advice);
    if (phase_ == Phase::kPrepare && kind != Origin::kPrepared) {
      return wrong("prepare_writes", what + " in prepare, which may write tensors of its own only" + advice);
    }
    if (phase_ == Phase::kForward && kind == Origin::kPrepared) {
      return wrong("writes_prepared", what + ": it would carry state from call to call" + advice);
    }
    return std::nullopt;
  }

  // A new id, or one of the operator's own arguments (in place, or an operator that returned what it was given).
  Maybe result(TensorId id, const std::string& name, const std::set<TensorId>& arguments,
               const std::set<TensorId>& storages) {
    if (defined_[at(id)]) {
      if (arguments.contains(id)) return std::nullopt;
      return wrong("bad_id", named(id) + ", a result of " + in_quotes(name) + ", is defined already");
    }
    const TensorId root = tensor(id).storage;
    if (root != id) {
      if (!storages.contains(root)) {
        return wrong("bad_view", named(id) + ", a result of " + in_quotes(name) + ", claims the storage of " +
                                     named(root) + ", which is none of the operator's");
      }
      // parse() has checked that both extents exist.
      if (byte_extent(tensor(id)) > byte_extent(tensor(root))) {
        return wrong("bad_view", named(id) + " reaches beyond the storage of " + named(root));
      }
    }
    define(id, phase_ == Phase::kPrepare ? Origin::kPrepared : Origin::kComputed);
    return std::nullopt;
  }

  Maybe launch(const Launch& launch) {
    if (auto problem = reads(arguments_of(launch))) return problem;
    if (auto problem = check_launch(launch, plan_.tensors, kernels_, device_)) return problem;
    launches_ = launches_ || phase_ == Phase::kForward;
    const std::vector<Param>& params = kernels_.find(launch.kernel)->second.params;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const auto* ref = std::get_if<TensorRef>(&launch.args[i].data);
      if (ref == nullptr || params[i].is_const.value_or(true)) continue;  // unknown: watched when it runs
      const std::string who =
          "kernel " + in_quotes(launch.kernel) + " may write through argument " + std::to_string(i) + ", which is";
      if (auto problem = writes(ref->id, who, "; if it only reads it, declare the pointer const")) return problem;
    }
    return std::nullopt;
  }

  Maybe outputs(const Tree& tree) {
    for (const auto& [key, child] : tree.children) {
      if (auto problem = outputs(child)) return problem;
    }
    if (tree.kind != Tree::Kind::kTensor) return std::nullopt;
    if (!defined_[at(tree.tensor)])
      return wrong("bad_output", "an output, " + named(tree.tensor) + ", is made by no step");
    if (mode_ == Mode::kCandidate && origin(tree.tensor) != Origin::kComputed) {
      return wrong("bad_output", std::string("an output is ") + kOriginText[static_cast<int>(origin(tree.tensor))] +
                                     " or a view of it: forward must make its outputs (return a copy)");
    }
    return std::nullopt;
  }

  const Plan& plan_;
  const Kernels& kernels_;
  const Device& device_;
  const Operators& operators_;
  Mode mode_;
  Phase phase_ = Phase::kPrepare;
  bool launches_ = false;
  std::vector<bool> defined_;
  std::vector<Origin> origins_;  // by storage
};

}  // namespace

std::optional<Problem> validate(const Plan& plan, const Kernels& kernels, const Device& device,
                                const Operators& operators, Mode mode) {
  return Walk(plan, kernels, device, operators, mode).run();
}

}  // namespace kagent::plan
