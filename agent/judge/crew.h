// The processes that judge one task: tracer, compiler, reference worker and candidate workers (docs/protocol.md).
//
// They start together and warm up in parallel. A candidate worker serves one sample and is thrown away; the next one is
// started at once, so that it is warm when the next answer comes.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "agent/base/result.h"
#include "agent/judge/fork_server.h"
#include "agent/judge/installation.h"
#include "agent/judge/process.h"
#include "agent/judge/verdict.h"

namespace kagent {

struct CrewSpec {
  std::string task_file;
  std::int64_t model_seed = 42;
  std::string gpu = "0";
  // "emulate": no GPU, kernels run on the CPU; "none": no GPU, the workers only validate
  std::string backend = "cuda";
  std::string arch;        // "" is the GPU's own (sm_90a where there is none)
  nlohmann::json device;   // what probe_device said; needed where the workers start later
  std::string log_folder;  // stderr of the children; "" drops it
};

// Deadlines in seconds, one a phase. Exceeding one ends the process.
struct Deadlines {
  double start = 180;
  double task = 600;
  double trace = 60;
  double compile = 180;
  double plan = 120;
  double run = 120;
  double compare = 300;
  double time = 300;
  double profile = 120;
  double study = 1800;
};

// A candidate's run may take ten seconds, or as much as drawing its inputs ten times over and fifty calls of the
// reference take, whichever is more: `task` is what the reference worker said when it had built the model (drawn_s,
// call_s).
double run_deadline_s(const nlohmann::json& task);

// Turns a child's answer into a Failure unless it is ok. `stage` and `kind_if_gone` name what a dead or silent child
// means.
std::optional<Failure> failure_of(const Child& child, const ChildReply& reply, const std::string& stage);

// The same as an error of the machine's: "the tracer failed while starting: ...".
Error crew_error(const Child& child, const ChildReply& reply, const char* doing);

// The same for an answer whose "ok" is false. Texts are cut to what a log can hold.
Failure failure_in(const nlohmann::json& answer, const std::string& stage);

// A candidate worker that starts and builds the task's model in the background. One that nobody takes is ended.
class WarmingWorker {
 public:
  WarmingWorker(Result<std::unique_ptr<Child>> started, const nlohmann::json& task, const Deadlines& deadlines);
  ~WarmingWorker();
  WarmingWorker(const WarmingWorker&) = delete;
  WarmingWorker& operator=(const WarmingWorker&) = delete;

  // Waits until it is ready. Once.
  Result<std::unique_ptr<Child>> take();

 private:
  std::unique_ptr<Child> child_;
  std::future<Status> ready_;
};

class Crew {
 public:
  // kLater: tracer and compiler only, which need no GPU; start_workers() follows.
  enum class Workers { kNow, kLater };
  // Starts everything and waits until tracer and compiler are ready and the device is known; the workers build the
  // task's model meanwhile. Errors are kagent's or the machine's.
  static Result<std::unique_ptr<Crew>> assemble(const Installation& installation, const CrewSpec& spec,
                                                Workers workers = Workers::kNow);
  // The reference worker and the first candidate's, on this GPU. Errors: as assemble.
  Status start_workers(const std::string& gpu);
  // Waits until the reference worker has the task: before it is asked anything else. Errors: as assemble.
  Status await_reference();
  [[nodiscard]] bool has_workers() const { return reference_ != nullptr; }

  ~Crew();

  Child& tracer() { return *tracer_; }
  Child& compiler() { return *compiler_; }
  Child& reference() { return *reference_; }

  // A fresh candidate worker that has the task. Ends the one before.
  Result<Child*> new_candidate();
  // Throws the current candidate worker away; `another`: and starts warming the next.
  void retire_candidate(bool another);

  [[nodiscard]] const nlohmann::json& device() const { return device_; }
  [[nodiscard]] const nlohmann::json& environment() const { return environment_; }
  // Some output of the reference is an input, a parameter or a buffer: an answer's may be, too.
  [[nodiscard]] bool reference_returns_sources() const { return reference_returns_sources_; }
  // Regimes of other weights that mean something for the task (harness/check/weights.py).
  [[nodiscard]] bool has_regime(const std::string& weights) const { return regimes_.count(weights) != 0; }
  [[nodiscard]] const CrewSpec& spec() const { return spec_; }
  [[nodiscard]] const Deadlines& deadlines() const { return deadlines_; }
  [[nodiscard]] bool has_gpu() const { return spec_.backend == "cuda"; }
  // Whether the reference worker, whose CUDA context no answer can harm, still reaches the GPU. True without one, and
  // before any candidate was there to harm it.
  bool gpu_answers();
  [[nodiscard]] bool emulates() const { return spec_.backend == "emulate"; }
  [[nodiscard]] const std::string& emulator() const { return installation_.emulator; }

 private:
  Crew() = default;
  void warm_candidate();
  Status start_reference();
  Status start_compiler();
  Status start_tracer();
  Status ready_compiler();
  Result<std::unique_ptr<Child>> fork_worker(const std::string& role);

  Installation installation_;
  CrewSpec spec_;
  Deadlines deadlines_;
  nlohmann::json device_;
  nlohmann::json environment_ = nlohmann::json::object();
  bool reference_returns_sources_ = false;
  std::set<std::string> regimes_;
  std::unique_ptr<ForkServer> fork_server_;
  std::unique_ptr<Child> tracer_;
  std::unique_ptr<Child> compiler_;
  std::unique_ptr<Child> reference_;
  std::future<Status> reference_loading_;  // its wait comes before the worker's end
  Status reference_loaded_ = Ok{};
  std::unique_ptr<Child> candidate_;
  std::unique_ptr<WarmingWorker> next_candidate_;
};

// A reference worker that is nobody's child but kagent's: no fork server, so that options of its own may be added.
ChildSpec lone_worker_spec(const Installation& installation, const CrewSpec& spec);
ChildSpec tracer_spec(const Installation& installation, const CrewSpec& spec);
ChildSpec compiler_spec(const Installation& installation, const CrewSpec& spec);

// True when this machine shows an NVIDIA device.
bool machine_has_gpu();

// A task's work, floor, numerics and, of at most `mutants` wrong versions of it, how many the judge's checks tell
// (docs/protocol.md, `study`), from a reference worker of its own.
Result<nlohmann::json> study_task(const Installation& installation, const CrewSpec& spec, int mutants);

// Facts of the device that `spec` would judge on: asked of a short-lived process, or from the table where there is no
// GPU.
Result<nlohmann::json> probe_device(const Installation& installation, const CrewSpec& spec);

}  // namespace kagent
