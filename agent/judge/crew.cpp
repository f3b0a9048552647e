#include "agent/judge/crew.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "agent/base/json_text.h"
#include "agent/judge/device_facts.h"

namespace kagent {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr double kTimedRuns = 6;  // deadlines of one run that a request of timing has: a burst's runs

}  // namespace

Error crew_error(const Child& child, const ChildReply& reply, const char* doing) {
  const std::optional<Failure> failure = failure_of(child, reply, "internal");
  std::string message = fmt::format("the {} failed while {}: {}", child.name(), doing,
                                    failure ? failure->reason : std::string("unknown reason"));
  return Error{reply.fate == Fate::kDeadline ? Code::kTimeout : Code::kInternal, message};
}

namespace {

std::string log_path(const CrewSpec& spec, const std::string& name) {
  return spec.log_folder.empty() ? "" : fmt::format("{}/{}.stderr", spec.log_folder, name);
}

// argv begins with the script's name.
ChildSpec worker_spec(const Installation& installation, const CrewSpec& spec, const std::string& role) {
  const bool gpu = spec.backend == "cuda";
  return {role + " worker",
          {"worker.py", "--role", role, "--backend", gpu ? "cuda" : "cpu", "--library", installation.library},
          gpu ? spec.gpu : "",
          log_path(spec, role)};
}

}  // namespace

ChildSpec lone_worker_spec(const Installation& installation, const CrewSpec& spec) {
  ChildSpec alone = worker_spec(installation, spec, "reference");
  alone.argv[0] = installation.root + "/harness/worker.py";
  alone.argv.insert(alone.argv.begin(), {installation.python, "-s", "-E"});
  return alone;
}

ChildSpec tracer_spec(const Installation& installation, const CrewSpec& spec) {
  return {"tracer",
          {installation.python, "-s", "-E", installation.root + "/harness/trace.py", "--seal", installation.seal},
          "",
          log_path(spec, "tracer")};
}

ChildSpec compiler_spec(const Installation& installation, const CrewSpec& spec) {
  std::vector<std::string> argv = {installation.compiler, "--cache", installation.cache, "--emulate-include",
                                   installation.root + "/harness/emulate/include"};
  if (!installation.cuda.empty()) argv.insert(argv.end(), {"--cuda", installation.cuda});
  return {"compiler", argv, "", log_path(spec, "compiler")};
}

bool machine_has_gpu() {
  std::error_code ignored;
  return std::filesystem::exists("/dev/nvidiactl", ignored) || std::filesystem::exists("/dev/dxg", ignored);
}

Result<nlohmann::json> probe_device(const Installation& installation, const CrewSpec& spec) {
  if (spec.backend != "cuda") return device_facts(spec.arch.empty() ? kArchWithoutGpu : spec.arch);
  Result<std::unique_ptr<Child>> worker =
      Child::start({"probe",
                    {installation.python, "-s", "-E", installation.root + "/harness/probe.py"},
                    spec.gpu,
                    log_path(spec, "probe")});
  if (!worker) return worker.error();
  const ChildReply hello = worker.value()->ask({{"cmd", "hello"}}, Seconds(Deadlines().start));
  if (!hello.ok()) return crew_error(*worker.value(), hello, "starting");
  nlohmann::json device = object_in(hello.answer, "device");
  if (!spec.arch.empty()) device["arch"] = spec.arch;
  return device;
}

Result<nlohmann::json> study_task(const Installation& installation, const CrewSpec& spec, int mutants) {
  Result<std::unique_ptr<Child>> worker = Child::start(lone_worker_spec(installation, spec));
  if (!worker) return worker.error();
  const Deadlines deadlines;
  nlohmann::json answer;
  for (const auto& [request, deadline_s] :
       {std::pair(nlohmann::json{{"cmd", "hello"}}, deadlines.start),
        std::pair(nlohmann::json{{"cmd", "task"}, {"file", spec.task_file}, {"seed", spec.model_seed}}, deadlines.task),
        std::pair(nlohmann::json{{"cmd", "study"}, {"mutants", mutants}}, deadlines.study)}) {
    const ChildReply reply = worker.value()->ask(request, Seconds(deadline_s));
    if (!reply.ok()) return crew_error(*worker.value(), reply, "studying the task");
    answer = reply.answer;
  }
  answer.erase("ok");
  return answer;
}

double run_deadline_s(const nlohmann::json& task) {
  constexpr double kLeast = 10;
  return std::max(kLeast, 10 * number_or(task, "drawn_s", 0.0) + 50 * number_or(task, "call_s", 0.0));
}

Failure failure_in(const nlohmann::json& answer, const std::string& stage) {
  constexpr std::size_t kMostReason = 20'000;  // bytes
  constexpr std::size_t kMostDetail = 200'000;
  const nlohmann::json error = object_in(answer, "error");
  Failure failure;
  failure.stage = text_or(error, "stage", stage).substr(0, 100);
  failure.kind = text_or(error, "kind", "unknown").substr(0, 100);
  failure.reason = text_or(error, "message", "no reason given").substr(0, kMostReason);
  failure.detail = text_or(error, "detail", "").substr(0, kMostDetail);
  failure.block = text_or(error, "block", "").substr(0, 100);
  const std::int64_t line = integer_or(error, "line", 0);
  if (line > 0 && line <= std::numeric_limits<int>::max()) failure.line = static_cast<int>(line);
  return failure;
}

std::optional<Failure> failure_of(const Child& child, const ChildReply& reply, const std::string& stage) {
  if (reply.ok()) return std::nullopt;
  if (reply.fate == Fate::kAnswered) return failure_in(reply.answer, stage);
  const char* kind = reply.fate == Fate::kDeadline ? "hang" : reply.fate == Fate::kDied ? "crashed" : "garbled";
  return Failure{
      stage,
      kind,
      fmt::format("the {} {}{}", child.name(), reply.fate == Fate::kDeadline ? "gave " + reply.detail : reply.detail,
                  last_said(child.stderr_tail(2000))),
      std::nullopt,
      "",
      child.stderr_tail(20000)};
}

WarmingWorker::WarmingWorker(Result<std::unique_ptr<Child>> started, const nlohmann::json& task,
                             const Deadlines& deadlines) {
  if (!started) {
    ready_ = std::async(std::launch::deferred, [error = started.error()]() -> Status { return error; });
    return;
  }
  child_ = std::move(started).value();
  ready_ = std::async(std::launch::async, [&child = *child_, task, deadlines]() -> Status {
    const ChildReply hello = child.ask({{"cmd", "hello"}}, Seconds(deadlines.start));
    if (!hello.ok()) return crew_error(child, hello, "starting");
    const ChildReply loaded = child.ask(task, Seconds(deadlines.task));
    if (!loaded.ok()) return crew_error(child, loaded, "building the model");
    return Ok{};
  });
}

WarmingWorker::~WarmingWorker() {
  if (child_ && ready_.valid()) child_->interrupt();
  if (ready_.valid()) ready_.wait();
}

Result<std::unique_ptr<Child>> WarmingWorker::take() {
  const Status ready = ready_.get();
  if (!ready) return ready.error();
  return std::move(child_);
}

Crew::~Crew() {
  // A process with a CUDA context takes its time to end: all at once.
  for (const auto* child : {&tracer_, &compiler_, &reference_, &candidate_}) {
    if (*child) (*child)->interrupt();
  }
}

void Crew::warm_candidate() {
  next_candidate_ = std::make_unique<WarmingWorker>(
      fork_worker("candidate"), nlohmann::json{{"cmd", "task"}, {"file", spec_.task_file}, {"seed", spec_.model_seed}},
      deadlines_);
}

Status Crew::start_reference() {
  Result<std::unique_ptr<Child>> started = fork_worker("reference");
  if (!started) return started.error();
  reference_ = std::move(started).value();
  const ChildReply hello = reference_->ask({{"cmd", "hello"}}, Seconds(deadlines_.start));
  if (!hello.ok()) return crew_error(*reference_, hello, "starting");
  environment_.update(hello.answer);
  environment_.erase("ok");
  if (has_gpu()) {
    device_ = object_in(hello.answer, "device");
    if (!spec_.arch.empty()) device_["arch"] = spec_.arch;
  } else {
    Result<nlohmann::json> facts = device_facts(spec_.arch.empty() ? kArchWithoutGpu : spec_.arch);
    if (!facts) return facts.error();
    device_ = facts.value();
    environment_["device"] = device_;
  }
  return Ok{};
}

Result<std::unique_ptr<Child>> Crew::fork_worker(const std::string& role) {
  return fork_server_->fork(worker_spec(installation_, spec_, role), Seconds(deadlines_.start));
}

Status Crew::start_compiler() {
  Result<std::unique_ptr<Child>> compiler = Child::start(compiler_spec(installation_, spec_));
  if (!compiler) return compiler.error();
  compiler_ = std::move(compiler).value();
  return Ok{};
}

Status Crew::start_tracer() {
  Result<std::unique_ptr<Child>> tracer = Child::start(tracer_spec(installation_, spec_));
  if (!tracer) return tracer.error();
  tracer_ = std::move(tracer).value();
  return Ok{};
}

Result<std::unique_ptr<Crew>> Crew::assemble(const Installation& installation, const CrewSpec& spec, Workers workers) {
  std::unique_ptr<Crew> crew(new Crew());
  crew->installation_ = installation;
  crew->spec_ = spec;
  crew->device_ = spec.device;
  if (!spec.device.is_null()) crew->environment_["device"] = spec.device;
  if (crew->emulates()) {  // a CPU takes its time
    crew->deadlines_.run *= 10;
    crew->deadlines_.compare *= 4;
  }
  auto server = ForkServer::start(installation.python, installation.root + "/harness/fork_server.py",
                                  log_path(spec, "fork_server"));
  if (!server) return server.error();
  crew->fork_server_ = std::move(server).value();
  if (Status started = crew->start_tracer(); !started) return started.error();
  if (Status started = crew->start_compiler(); !started) return started.error();
  auto tracer_ready = std::async(std::launch::async, [&]() -> Status {
    for (const nlohmann::json& request :
         {nlohmann::json{{"cmd", "hello"}}, nlohmann::json{{"cmd", "task"}, {"file", spec.task_file}}}) {
      const ChildReply reply = crew->tracer_->ask(request, Seconds(crew->deadlines_.task));
      if (!reply.ok()) return crew_error(*crew->tracer_, reply, "loading the task");
      crew->reference_returns_sources_ = flag_or(reply.answer, "returns_sources", false);
    }
    return Ok{};
  });
  Status others = crew->ready_compiler();
  if (others && workers == Workers::kNow) others = crew->start_workers(spec.gpu);
  const Status tracer = tracer_ready.get();
  if (!others) return others.error();
  if (!tracer) return tracer.error();
  return crew;
}

Status Crew::ready_compiler() {
  const ChildReply compiler = compiler_->ask({{"cmd", "hello"}}, Seconds(deadlines_.start));
  if (!compiler.ok()) return crew_error(*compiler_, compiler, "starting");
  environment_["nvrtc"] = text_or(compiler.answer, "nvrtc", "");
  return Ok{};
}

Status Crew::start_workers(const std::string& gpu) {
  spec_.gpu = gpu;
  warm_candidate();  // first: it has more to do
  if (Status reference = start_reference(); !reference) return reference;
  reference_loading_ = std::async(std::launch::async, [this]() -> Status {
    const ChildReply loaded = reference_->ask({{"cmd", "task"}, {"file", spec_.task_file}, {"seed", spec_.model_seed}},
                                              Seconds(deadlines_.task));
    if (!loaded.ok()) return crew_error(*reference_, loaded, "building the model");
    for (const auto& regime : array_in(loaded.answer, "regimes")) {
      if (regime.is_string()) regimes_.insert(regime.get<std::string>());
    }
    if (has_gpu()) {
      deadlines_.run = std::min(deadlines_.run, run_deadline_s(loaded.answer));
      deadlines_.time = std::min(deadlines_.time, kTimedRuns * deadlines_.run);
      deadlines_.profile = std::min(deadlines_.profile, kTimedRuns * deadlines_.run);
    }
    return Ok{};
  });
  return Ok{};
}

Status Crew::await_reference() {
  if (reference_loading_.valid()) reference_loaded_ = reference_loading_.get();
  return reference_loaded_;
}

Result<Child*> Crew::new_candidate() {
  candidate_.reset();
  if (!next_candidate_) warm_candidate();
  Result<std::unique_ptr<Child>> started = next_candidate_->take();
  next_candidate_.reset();
  if (!started) return started.error();
  candidate_ = std::move(started).value();
  return candidate_.get();
}

bool Crew::gpu_answers() {
  if (!has_gpu() || !candidate_ || !await_reference()) return true;
  return reference_->ask({{"cmd", "hello"}}, Seconds(deadlines_.start)).ok();
}

void Crew::retire_candidate(bool another) {
  candidate_.reset();
  if (another && !next_candidate_) warm_candidate();
}

}  // namespace kagent
