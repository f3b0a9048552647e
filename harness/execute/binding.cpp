// The harness as torch sees it: torch.classes.kagent.Executor and torch.ops.kagent.*. Errors are raised with a message
// "kagent:{json}" that harness/worker.py turns into a protocol error (docs/protocol.md).

#include <c10/cuda/CUDAException.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "harness/execute/executor.h"
#include "harness/execute/run_error.h"
#include "harness/plan/parse.h"
#include "harness/plan/validate.h"
#include "harness/profile/profile.h"

namespace kagent::execute {
namespace {

using nlohmann::json;

json error_json(const char* stage, const std::string& kind, const std::string& message, std::optional<int> line) {
  return {{"stage", stage},
          {"kind", kind},
          {"message", message},
          {"line", line ? json(*line) : json()},
          {"block", line ? "python" : ""},
          {"detail", ""}};
}

[[noreturn]] void raise(const char* stage, const std::string& kind, const std::string& message,
                        std::optional<int> line) {
  throw std::runtime_error("kagent:" +
                           error_json(stage, kind, message, line).dump(-1, ' ', false, json::error_handler_t::replace));
}

[[noreturn]] void raise(const plan::Problem& problem) {
  raise("validate", problem.kind, problem.message, problem.line);
}

// Runs `work` and turns what it throws into a raised protocol error.
template <typename Work>
auto guarded(Work&& work) {
  try {
    return work();
  } catch (const RunError& error) {
    raise("run", error.kind, error.what(), error.line);
  } catch (const c10::OutOfMemoryError&) {
    raise("run", "out_of_memory", "the GPU's memory does not suffice", std::nullopt);
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    raise("run", text.find("CUDA error") != std::string::npos ? "illegal_access" : "operator_error",
          text.substr(0, text.find('\n')), std::nullopt);
  }
}

template <typename T>
T value_or_raise(std::variant<T, plan::Problem> result) {
  if (const auto* problem = std::get_if<plan::Problem>(&result)) raise(*problem);
  return std::get<T>(std::move(result));
}

// {"ok": true} or {"ok": false, "error": {...}}: does the plan hold, as far as that needs no torch?
std::string check_plan(const std::string& plan_text, const std::string& kernels, const std::string& device,
                       const std::string& operators, const std::string& mode) {
  const auto failed = [](const plan::Problem& p) {
    return json{{"ok", false}, {"error", error_json("validate", p.kind, p.message, p.line)}}.dump();
  };
  auto parsed = plan::parse(plan_text);
  if (const auto* problem = std::get_if<plan::Problem>(&parsed)) return failed(*problem);
  auto known = plan::read_kernels(kernels);
  if (const auto* problem = std::get_if<plan::Problem>(&known)) return failed(*problem);
  auto facts = plan::read_device(device);
  if (const auto* problem = std::get_if<plan::Problem>(&facts)) return failed(*problem);
  const auto problem = plan::validate(std::get<plan::Plan>(parsed), std::get<plan::Kernels>(known),
                                      std::get<plan::Device>(facts), plan::Operators::from_text(operators),
                                      mode == "reference"            ? plan::Mode::kReference
                                      : mode == "candidate_aliasing" ? plan::Mode::kCandidateAliasing
                                                                     : plan::Mode::kCandidate);
  return problem ? failed(*problem) : json{{"ok", true}}.dump();
}

std::string read_cubin(const std::string& path) {
  if (path.empty()) return "";
  std::ifstream in(path, std::ios::binary);
  if (!in) raise("internal", "no_cubin", "cannot read " + path, std::nullopt);
  return {std::istreambuf_iterator<char>(in), {}};
}

json rows_json(const std::vector<profile::Row>& rows, const plan::Plan* plan) {
  json out = json::array();
  for (const profile::Row& row : rows) {
    json item = {{"name", row.name}, {"count", row.count}, {"ms", row.total_ms}, {"share", row.share},
                 {"step", nullptr},  {"line", nullptr},    {"op", nullptr}};
    if (plan != nullptr && row.step >= 0 && row.step < static_cast<int>(plan->forward.size())) {
      const plan::Step& step = plan->forward[static_cast<std::size_t>(row.step)];
      item["step"] = row.step;
      if (step.line) item["line"] = *step.line;
      if (const auto* op = std::get_if<plan::Operator>(&step.what)) item["op"] = op->name;
    }
    out.push_back(std::move(item));
  }
  return out;
}

json profile_json(const profile::Recorded& recorded, int calls, const plan::Plan* plan) {
  if (!recorded.error.empty()) raise("profile", "no_profile", recorded.error, std::nullopt);
  const auto rows = profile::table(recorded.kernels, calls);
  double total_ms = 0;
  for (const auto& row : rows) total_ms += row.total_ms;
  return {{"total_ms", total_ms}, {"kernels", rows_json(rows, plan)}};
}

void begin_profile() {
  if (const std::string reason = profile::start(); !reason.empty())
    raise("profile", "no_profile", reason, std::nullopt);
}

// The caller has synchronised. `calls` equal calls were made since profile_begin.
std::string end_profile(std::int64_t calls) {
  return profile_json(profile::stop(), static_cast<int>(calls), nullptr).dump();
}

class Holder : public torch::CustomClassHolder {
 public:
  Holder(const std::string& plan_text, const std::string& kernels, const std::string& cubin_path,
         const std::string& device, const std::string& options) {
    plan::Plan plan = value_or_raise<plan::Plan>(plan::parse(plan_text));
    const json chosen = json::parse(options, nullptr, false);
    std::optional<Emulation> emulation;
    if (chosen.is_object() && chosen.contains("emulate")) {
      const json& e = chosen["emulate"];
      emulation = Emulation{e.value("starter", ""), e.value("program", ""),
                            e.value("names", std::vector<std::string>()), e.value("deadline_s", 60.0)};
    }
    if (chosen.is_object()) {
      plan.graph = chosen.value("graph", plan.graph);
      plan.tf32 = chosen.value("tf32", plan.tf32);
    }
    executor_ = guarded([&] {
      return std::make_unique<Executor>(std::move(plan), value_or_raise<plan::Kernels>(plan::read_kernels(kernels)),
                                        read_cubin(cubin_path), c10::Device(device), emulation);
    });
  }

  void bind(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& buffers,
            const std::vector<at::Tensor>& state) {
    guarded([&] { executor_->bind(parameters, buffers, state); });
  }
  void prepare() {
    guarded([&] { executor_->prepare(); });
  }
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) {
    return guarded([&] { return executor_->run(inputs); });
  }
  void set_graph(bool on) { executor_->set_graph(on); }
  void set_poison(const std::string& pattern) {
    executor_->set_poison(pattern == "nan" ? Poison::kNan : pattern == "huge" ? Poison::kHuge : Poison::kOff);
  }
  void set_disturbed(bool on) { executor_->set_disturbed(on); }
  // What goes wrong here is kagent's, unless the context was lost before.
  void scrub(const std::string& pattern) {
    try {
      guarded([&] { executor_->scrub(pattern == "huge" ? Poison::kHuge : Poison::kNan); });
    } catch (const std::runtime_error& error) {
      if (std::string_view(error.what()).find("\"illegal_access\"") != std::string_view::npos) throw;
      raise("internal", "scrub", std::string("memory could not be cleared before a run: ") + error.what(),
            std::nullopt);
    }
  }
  std::vector<at::Tensor> run_guarded(const std::vector<at::Tensor>& inputs, const std::string& fill) {
    return guarded(
        [&] { return executor_->run_guarded(inputs, fill == "small" ? GuardFill::kSmall : GuardFill::kLarge); });
  }
  std::vector<at::Tensor> prepared() { return executor_->prepared(); }
  std::vector<at::Tensor> constants() { return executor_->constants(); }
  std::int64_t set_stand_in(const std::string& kernel, const std::string& what) {
    return executor_->set_stand_in(kernel, what == "nothing" ? StandIn::kNothing
                                           : what == "copy"  ? StandIn::kCopy
                                                             : StandIn::kNone);
  }
  std::string info() {
    const Counts& counts = executor_->counts();
    return json{{"steps", executor_->plan().forward.size()}, {"prepare_steps", executor_->plan().prepare.size()},
                {"launches", executor_->launches()},         {"library_ops", executor_->library_operators()},
                {"graph", executor_->uses_graph()},          {"tf32", executor_->plan().tf32},
                {"restrides", counts.copied_results},        {"patched_nodes", counts.patched_nodes},
                {"copied_inputs", counts.copied_inputs},     {"copied_outputs", counts.copied_outputs}}
        .dump();
  }
  // Three calls without a graph, each step's kernels attributed to it.
  std::string profile(const std::vector<at::Tensor>& inputs) {
    constexpr int kCalls = 3;
    return guarded([&] {
      executor_->run_observed(inputs, {}, {});
      C10_CUDA_CHECK(cudaDeviceSynchronize());
      begin_profile();
      for (int i = 0; i < kCalls; ++i) executor_->run_observed(inputs, profile::begin_step, profile::end_step);
      C10_CUDA_CHECK(cudaDeviceSynchronize());
      return profile_json(profile::stop(), kCalls, &executor_->plan()).dump();
    });
  }

 private:
  std::unique_ptr<Executor> executor_;
};

TORCH_LIBRARY(kagent, m) {
  m.def("check(str plan, str kernels, str device, str operators, str mode) -> str", check_plan);
  m.def("profile_begin() -> ()", begin_profile);
  m.def("profile_end(int calls) -> str", end_profile);
  m.class_<Holder>("Executor")
      .def(torch::init<const std::string&, const std::string&, const std::string&, const std::string&,
                       const std::string&>())
      .def("bind", &Holder::bind)
      .def("prepare", &Holder::prepare)
      .def("run", &Holder::run)
      .def("run_guarded", &Holder::run_guarded)
      .def("prepared", &Holder::prepared)
      .def("constants", &Holder::constants)
      .def("set_stand_in", &Holder::set_stand_in)
      .def("set_graph", &Holder::set_graph)
      .def("set_poison", &Holder::set_poison)
      .def("scrub", &Holder::scrub)
      .def("set_disturbed", &Holder::set_disturbed)
      .def("info", &Holder::info)
      .def("profile", &Holder::profile);
}

}  // namespace
}  // namespace kagent::execute
