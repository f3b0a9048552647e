#include "agent/judge/build.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "agent/base/json_text.h"
#include "agent/judge/device_facts.h"

namespace kagent {
namespace {

using Seconds = std::chrono::duration<double>;

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::optional<Failure> compile(Child& compiler, const std::string& arch, double deadline_s, const std::string& source,
                               const nlohmann::json& names, Verdict& verdict, Artifacts& artifacts, Built& built) {
  const ChildReply reply =
      compiler.ask({{"cmd", "compile"}, {"source", source}, {"arch", arch}, {"names", names}}, Seconds(deadline_s));
  verdict.phases_s.emplace_back("compile", reply.elapsed_s);
  const nlohmann::json& answer = reply.answer;
  if (answer.is_object()) {
    artifacts["compile.log"] = text_or(answer, "log", "");
    if (answer.contains("errors")) verdict.compile["errors"] = answer["errors"];
  }
  if (auto failure = failure_of(compiler, reply, "internal")) {
    if (failure->stage != "internal" && failure->block.empty()) failure->block = "cuda";
    return failure;
  }
  verdict.compile["kernels"] = object_in(answer, "kernels");
  verdict.compile["arch"] = arch;
  verdict.compile["cached"] = flag_or(answer, "cached", false);
  built.kernels = verdict.compile["kernels"];
  if (answer.contains("lint")) built.lint = answer["lint"];
  built.cubin_path = text_or(answer, "cubin", "");
  artifacts["kernels.cubin"] = slurp(built.cubin_path);
  artifacts["kernels.ptx"] = slurp(text_or(answer, "ptx", ""));
  artifacts["preprocessed.cu"] = slurp(text_or(answer, "preprocessed", ""));
  return std::nullopt;
}

std::optional<Failure> build(Crew& crew, const Program& program, Verdict& verdict, Artifacts& artifacts, Built& built) {
  const ChildReply traced = crew.tracer().ask(
      {{"cmd", "trace"}, {"program", program.python}, {"device", crew.device()}, {"max_steps", 20000}, {"seconds", 20}},
      Seconds(crew.deadlines().trace));
  verdict.phases_s.emplace_back("trace", traced.elapsed_s);
  std::optional<Failure> failure = failure_of(crew.tracer(), traced, "internal");
  nlohmann::json names = nlohmann::json::array();
  if (!failure) {
    built.plan = text_or(traced.answer, "plan", "");
    artifacts["plan.json"] = built.plan;
    names = array_in(traced.answer, "kernels");
  } else if (failure->block.empty() && failure->stage != "internal") {
    failure->block = "python";
  }
  built.names = names;
  std::optional<Failure> compile_failure =
      compile(crew.compiler(), text_or(crew.device(), "arch", kArchWithoutGpu), crew.deadlines().compile, program.cuda,
              names, verdict, artifacts, built);
  return failure ? failure : compile_failure;
}

std::optional<Failure> load(Crew& crew, Child& worker, const Built& built, nlohmann::json& plan_facts) {
  const ChildReply reply = worker.ask({{"cmd", "plan"},
                                       {"plan", built.plan},
                                       {"cubin", built.cubin_path},
                                       {"kernels", built.kernels},
                                       {"device", crew.device()},
                                       {"reference", false},
                                       {"emulate", built.emulate},
                                       {"aliasing", crew.reference_returns_sources()}},
                                      Seconds(crew.emulates() ? crew.deadlines().run : crew.deadlines().plan));
  if (auto failure = failure_of(worker, reply, "validate")) return failure;
  for (const char* key : {"steps", "launches", "library_ops", "prepare_ms", "prepare_steps", "graph", "tf32"}) {
    if (reply.answer.contains(key)) plan_facts[key] = reply.answer[key];
  }
  return std::nullopt;
}

}  // namespace kagent
