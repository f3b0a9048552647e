#include "agent/judge/run_ahead.h"

#include <array>
#include <chrono>
#include <future>

#include "agent/judge/check.h"

namespace kagent {

std::optional<Failure> run_ahead(Crew& crew, Child& candidate, const std::vector<Draw>& draws,
                                 const std::string& exchange_file, const LookAtRun& look) {
  const std::array<std::string, 2> files = {exchange_file, exchange_file + ".next"};
  const std::chrono::duration<double> deadline(crew.deadlines().run);
  const auto start = [&](std::size_t i) {
    return std::async(std::launch::async,
                      [&, i] { return candidate.ask(run_request(draws[i], files[i % 2]), deadline); });
  };
  if (draws.empty()) return std::nullopt;
  std::future<ChildReply> running = start(0);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const ChildReply ran = running.get();
    const bool another = ran.ok() && i + 1 < draws.size();
    if (another) running = start(i + 1);
    if (auto failure = look(i, ran, files[i % 2])) {
      if (another) candidate.interrupt();
      return failure;  // the future's destructor waits
    }
  }
  return std::nullopt;
}

}  // namespace kagent
