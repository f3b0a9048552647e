#include "agent/judge/compile_ahead.h"

#include <chrono>

#include "agent/base/json_text.h"
#include "agent/judge/device_facts.h"
#include "agent/judge/gpus.h"

namespace kagent {

std::optional<Verdict> refused_by_compiler(const Installation& installation, const JudgeSettings& settings,
                                           const std::string& task_id, const Program& program, Artifacts& artifacts) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const CrewSpec& spec = settings.crew;
  const std::string arch = !spec.arch.empty() ? spec.arch : spec.backend == "cuda" ? arch_of_gpus() : kArchWithoutGpu;
  if (arch.empty()) return std::nullopt;
  const Result<std::unique_ptr<Child>> compiler = Child::start(compiler_spec(installation, spec));
  if (!compiler) return std::nullopt;
  const ChildReply hello = compiler.value()->ask({{"cmd", "hello"}}, std::chrono::duration<double>(Deadlines().start));
  if (!hello.ok()) return std::nullopt;

  Verdict verdict;
  verdict.task = task_id;
  verdict.backend = spec.backend;
  verdict.environment = {{"nvrtc", text_or(hello.answer, "nvrtc", "")}};
  verdict.phases_s.emplace_back("start", std::chrono::duration<double>(Clock::now() - begin).count());
  Built built;
  verdict.failure = compile(*compiler.value(), arch, Deadlines().compile, program.cuda, nlohmann::json::array(),
                            verdict, artifacts, built);
  if (!verdict.failure || verdict.failure->stage == "internal") {
    artifacts.clear();
    return std::nullopt;
  }
  verdict.outcome = Outcome::kRejected;
  verdict.record_not_run([](const Rule&) { return "the answer did not come so far"; });
  return verdict;
}

}  // namespace kagent
