#include "agent/judge/baselines.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "agent/base/json_text.h"
#include "agent/judge/check.h"
#include "agent/judge/null_plan.h"

namespace kagent {
namespace {

using nlohmann::json;
using Seconds = std::chrono::duration<double>;

constexpr std::int64_t kOfficialSeed = 42;

// Kernels that torch.compile made: both modes share them, and nothing is left of them afterwards.
class CompileCache {
 public:
  static Result<std::unique_ptr<CompileCache>> make() {
    Result<std::string> folder = make_home();
    if (!folder) return folder.error();
    return std::unique_ptr<CompileCache>(new CompileCache(folder.value()));
  }
  ~CompileCache() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  CompileCache(const CompileCache&) = delete;
  CompileCache& operator=(const CompileCache&) = delete;
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  explicit CompileCache(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

json task_request(const CrewSpec& spec) {
  return {{"cmd", "task"}, {"file", spec.task_file}, {"seed", spec.model_seed}};
}

Failure failure_of(const Error& error) { return {"internal", "worker", error.message, std::nullopt, "", ""}; }

// The processes of one measurement, and what they time.
class Bench {
 public:
  Bench(const Installation& installation, const BaselineSettings& settings,
        const std::function<void(std::string_view)>& on_phase)
      : installation_(installation), settings_(settings), on_phase_(on_phase) {}

  Status open();
  Status time();
  void check_officially();
  json result();

 private:
  void get_ready(Contender& c);
  std::vector<Contender*> running();

  const Installation& installation_;
  const BaselineSettings& settings_;
  const std::function<void(std::string_view)>& on_phase_;
  Deadlines deadlines_;
  std::unique_ptr<CompileCache> compile_cache_;  // outlives the workers
  std::unique_ptr<Child> reference_;
  std::vector<std::unique_ptr<Child>> compiling_;
  std::vector<Contender> contenders_;      // eager first
  std::map<std::string, TimingEnd> ends_;  // by kind
  std::map<std::string, json> official_;
  json environment_;
  json warnings_ = json::array();
  int rounds_ = 0;
  int discarded_ = 0;
};

// The reference worker with its null plan, and, meanwhile, those that may compile.
Status Bench::open() {
  on_phase_("starting workers");
  Result<std::unique_ptr<CompileCache>> cache = CompileCache::make();
  if (!cache) return cache.error();
  compile_cache_ = std::move(cache).value();
  std::vector<std::unique_ptr<WarmingWorker>> warming;
  for (const char* kind : kCompiledKinds) {
    ChildSpec spec = lone_worker_spec(installation_, settings_.crew);
    spec.name = fmt::format("{} worker", kind);
    spec.argv.insert(spec.argv.end(), {"--may-compile", "--compile-cache", compile_cache_->folder()});
    warming.push_back(std::make_unique<WarmingWorker>(Child::start(spec), task_request(settings_.crew), deadlines_));
  }
  Result<std::unique_ptr<Child>> tracer = Child::start(tracer_spec(installation_, settings_.crew));
  if (!tracer) return tracer.error();
  Result<std::unique_ptr<Child>> reference = Child::start(lone_worker_spec(installation_, settings_.crew));
  if (!reference) return reference.error();
  reference_ = std::move(reference).value();
  for (const json& request : {json{{"cmd", "hello"}}, task_request(settings_.crew)}) {
    for (Child* child : {reference_.get(), tracer.value().get()}) {
      const ChildReply reply = child->ask(request, Seconds(deadlines_.task));
      if (!reply.ok()) return crew_error(*child, reply, "loading the task");
      if (environment_.is_null()) environment_ = reply.answer;
    }
  }
  environment_.erase("ok");
  environment_.erase("gpu_processes");
  for (const char* kind : kReferenceKinds) contenders_.push_back({.worker = reference_.get(), .kind = kind});
  if (auto failure =
          load_null_plan(*tracer.value(), *reference_, object_in(environment_, "device"), true, deadlines_)) {
    if (!reference_->alive()) return Error{Code::kInternal, failure->reason};
    contenders_.back().failure = failure;
  }
  for (std::size_t i = 0; i < warming.size(); ++i) {
    Result<std::unique_ptr<Child>> worker = warming[i]->take();
    contenders_.push_back({.kind = kCompiledKinds.at(i)});
    if (worker) {
      compiling_.push_back(std::move(worker).value());
      contenders_.back().worker = compiling_.back().get();
    } else {
      contenders_.back().failure = failure_of(worker.error());
    }
  }
  return Ok{};
}

void Bench::get_ready(Contender& c) {
  if (c.failure) return;
  on_phase_(fmt::format("{}: warming up", c.kind));
  c.failure = begin(c, settings_.kind_deadline_s);
}

std::vector<Contender*> Bench::running() {
  std::vector<Contender*> all;
  for (Contender& c : contenders_) {
    if (!c.failure) all.push_back(&c);
  }
  return all;
}

// Eager's failure is an error; another's is its note, unless it took the reference worker with it.
Status Bench::time() {
  for (Contender& c : contenders_) {
    get_ready(c);
    const bool needed = &c == &contenders_.front() || (c.worker == reference_.get() && !reference_->alive());
    if (c.failure && needed) return Error{Code::kInternal, fmt::format("{}: {}", c.kind, c.failure->reason)};
  }
  on_phase_("timing");
  Contender& eager = contenders_.front();
  if (auto failure = rounds_by_pilot(eager, settings_.timing, settings_.kind_deadline_s, rounds_))
    return Error{Code::kInternal, failure->reason};
  for (int round = 0; round < rounds_ + discarded_; ++round) {
    for (Contender* c : running()) c->failure = burst(*c, settings_.timing.burst, settings_.kind_deadline_s);
    if (eager.failure) return Error{Code::kInternal, "eager: " + eager.failure->reason};
    if (auto failure = discard_if_slowed(running(), rounds_, settings_.timing, discarded_))
      return Error{Code::kInternal, failure->reason};
  }
  for (Contender* c : running()) c->failure = end(*c, deadlines_.time, ends_[c->kind]);
  if (eager.failure) return Error{Code::kInternal, "eager: " + eager.failure->reason};
  if (discarded_ > 0)
    warnings_.push_back(fmt::format("{} of {} rounds of timing were discarded: the clocks were held down", discarded_,
                                    rounds_ + discarded_));
  return Ok{};
}

void Bench::check_officially() {
  for (Contender* c : running()) {
    on_phase_(fmt::format("{}: official check", c->kind));
    const ChildReply reply = c->worker->ask(
        {{"cmd", "passes_official"}, {"kind", c->kind}, {"seed", kOfficialSeed}, {"tolerance", kTolerance}},
        Seconds(deadlines_.compare));
    if (const auto failure = kagent::failure_of(*c->worker, reply, "time")) {
      official_[c->kind] = {{"note", failure->reason}};
    } else {
      official_[c->kind] = {{"passed", flag_or(reply.answer, "passed", false)},
                            {"distributions", array_in(reply.answer, "distributions")}};
    }
  }
}

json Bench::result() {
  json baselines = json::object();
  json clocks = json::object();
  for (Contender& c : contenders_) {
    json& out = baselines[c.kind] = json::object();
    if (c.failure) {
      out["note"] = c.failure->reason;
      continue;
    }
    const Summary s = summarise(c.bursts);
    const TimingEnd& seen = ends_[c.kind];
    out["ms"] = {{"mean", s.mean_ms}, {"median", s.median_ms}, {"min", s.min_ms}, {"runs", s.runs}};
    out["peak_bytes"] = seen.peak_bytes;
    if (c.compile_s > 0) out["compile_s"] = c.compile_s;
    if (const auto ratio = ratio_of(contenders_.front().bursts, c.bursts); ratio && &c != &contenders_.front())
      out["over_eager"] = {
          {"ratio", ratio->ratio}, {"low", ratio->low}, {"high", ratio->high}, {"bursts", ratio->pairs}};
    if (!seen.clocks.is_null()) clocks[c.kind] = seen.clocks;
    if (!seen.others.empty() && warnings_.empty())
      warnings_.push_back("other processes were on the GPU while this was timed: " + seen.others);
  }
  for (auto& [kind, checked] : official_) {
    if (checked.contains("passed")) baselines[kind]["passes_official_check"] = checked["passed"];
    checked.erase("passed");
    checked.update({{"seed", kOfficialSeed}, {"tolerance", kTolerance}});
    baselines[kind]["official"] = checked;
  }
  environment_["clocks"] = clocks;
  return {{"environment", environment_}, {"rounds", rounds_}, {"baselines", baselines}, {"warnings", warnings_}};
}

}  // namespace

Result<json> reference_environment(const Installation& installation, const CrewSpec& spec) {
  Result<std::unique_ptr<Child>> worker = Child::start(lone_worker_spec(installation, spec));
  if (!worker) return worker.error();
  const ChildReply hello = worker.value()->ask({{"cmd", "hello"}}, Seconds(Deadlines().start));
  if (!hello.ok()) return crew_error(*worker.value(), hello, "starting");
  return hello.answer;
}

Result<json> measure_baselines(const Installation& installation, const BaselineSettings& settings,
                               const std::function<void(std::string_view)>& on_phase) {
  Bench bench(installation, settings, on_phase);
  if (Status opened = bench.open(); !opened) return opened.error();
  if (Status timed = bench.time(); !timed) return timed.error();
  bench.check_officially();
  return bench.result();
}

}  // namespace kagent
