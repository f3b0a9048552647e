// A child's answer: what it makes of a verdict, the log and the terminal. The child may be run by a model's program.
#include <cstdint>
#include <string_view>

#include "agent/command/verdict_text.h"
#include "agent/judge/crew.h"
#include "agent/judge/process.h"
#include "agent/run/chain.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kagent;
  ChildReply reply;
  reply.fate = Fate::kAnswered;
  reply.answer = read_answer({reinterpret_cast<const char*>(data), size});
  if (reply.answer.is_null()) return 0;
  const nlohmann::json& answer = reply.answer;

  Verdict verdict;  // everything that the judge takes from answers as it stands
  if (!reply.ok()) verdict.failure = failure_in(answer, "run");
  verdict.compile = {{"kernels", object_in(answer, "kernels")}, {"errors", array_in(answer, "errors")}};
  nlohmann::json check = {{"seed", 42}};
  for (const char* key : {"passed", "reason", "outputs", "state", "bitwise"}) {
    if (answer.contains(key)) check[key] = answer[key];
  }
  verdict.visible.push_back(check);
  for (const auto& [key, value] : answer.items()) verdict.plan[key] = value;
  verdict.profile["plan"] = {{"total_ms", number_or(answer, "total_ms", 0)}, {"kernels", array_in(answer, "kernels")}};

  // What is logged can be read again.
  const nlohmann::json body = {{"sample", 1}, {"verdict", to_json(verdict)}};
  const std::string line = run::chain_line("verdict", body, 3, "prev", "2026-12-01T06:30:00.123Z");
  const auto event = run::parse_line(line, 3, "prev");
  require(event.ok());
  (void)verdict_text(event.value()["verdict"]);
  return 0;
}
