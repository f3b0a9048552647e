#include "agent/judge/emulation.h"

#include "agent/base/json_text.h"

namespace kagent {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr double kLaunchDeadlineS = 60;

}  // namespace

bool undecided_by_emulation(const std::string& kind) {
  return kind == "not_emulable" || kind == "hang" || kind == "only_rounding";
}

bool says_nothing(const Crew& crew, const Failure& failure) {
  return failure.stage == "internal" || (crew.emulates() && undecided_by_emulation(failure.kind));
}

std::optional<Failure> build_emulated(Crew& crew, const Program& program, bool checking, Verdict& verdict,
                                      Built& built) {
  built.emulate = nullptr;
  if (built.names.empty()) return std::nullopt;  // library calls only
  const ChildReply reply = crew.compiler().ask(
      {{"cmd", "emulate"}, {"source", program.cuda}, {"names", built.names}, {"checking", checking}},
      Seconds(crew.deadlines().compile));
  verdict.phases_s.emplace_back(checking ? "compile for the checking CPU" : "compile for the CPU", reply.elapsed_s);
  if (auto failure = failure_of(crew.compiler(), reply, "internal")) return failure;
  built.emulate = {{"starter", crew.emulator()},
                   {"program", text_or(reply.answer, "program", "")},
                   {"names", built.names},
                   {"deadline_s", kLaunchDeadlineS}};
  return std::nullopt;
}

std::optional<Failure> diagnose(Crew& crew, const Program& program, const Built& built, const Draw& draw,
                                const std::string& exchange_file, Verdict& verdict) {
  Built checked = built;
  if (build_emulated(crew, program, true, verdict, checked)) return std::nullopt;
  Result<Child*> worker = crew.new_candidate();
  if (!worker) return std::nullopt;
  nlohmann::json ignored = nlohmann::json::object();
  std::optional<Failure> failure = load(crew, *worker.value(), checked, ignored);
  nlohmann::json record = nlohmann::json::array();
  if (!failure) failure = check_draw(crew, *worker.value(), draw, "visible", exchange_file, record);
  if (!failure || failure->stage == "internal" || failure->kind == "mismatch" || undecided_by_emulation(failure->kind))
    return std::nullopt;
  return failure;
}

}  // namespace kagent
