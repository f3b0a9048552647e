#include "agent/slurm/follow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "agent/base/printable.h"
#include "agent/slurm/program.h"

namespace kagent::slurm {
namespace {

using Clock = std::chrono::steady_clock;

// True once `seconds` have passed; false when asked to stop before.
bool waited(double seconds, const std::function<bool()>& stopped) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (Clock::now() < end) {
    if (stopped && stopped()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return !(stopped && stopped());
}

}  // namespace

std::vector<Element> parse_queue(std::string_view text) {
  std::vector<Element> elements;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t first = line.find('|');
    const std::size_t second = first == std::string_view::npos ? first : line.find('|', first + 1);
    if (second == std::string_view::npos || first == 0) continue;
    elements.push_back({printable(line.substr(0, first)), printable(line.substr(first + 1, second - first - 1)),
                        printable(line.substr(second + 1))});
  }
  return elements;
}

Result<std::vector<Element>> queued(const std::string& job_name) {
  Result<std::string> printed = run_program({"squeue", "--noheader", "--array", fmt::format("--user={}", ::getuid()),
                                             "--name=" + job_name, "--format=%i|%T|%r"},
                                            "");
  if (!printed && printed.error().code == Code::kNotFound)
    return Error{Code::kUsage,
                 "there is no squeue here: --slurm needs Slurm's commands on PATH, as on a cluster's "
                 "login node; without --slurm this machine judges"};
  if (!printed) return printed.error();
  return parse_queue(printed.value());
}

std::string queue_line(const std::vector<Element>& elements) {
  std::map<std::string, int> by_state;
  std::map<std::string, std::set<std::string>> reasons;
  for (const Element& element : elements) {
    std::string state = element.state;
    std::transform(state.begin(), state.end(), state.begin(), [](unsigned char c) { return std::tolower(c); });
    ++by_state[state];
    if (state == "pending" && element.reason != "None") reasons[state].insert(element.reason);
  }
  std::string line;
  for (const auto& [state, count] : by_state) {
    const std::string why = reasons[state].empty() ? "" : fmt::format(" ({})", fmt::join(reasons[state], ", "));
    line += fmt::format("{}{} {}{}", line.empty() ? "" : ", ", count, state, why);
  }
  return line.empty() ? "no job queued" : line;
}

Status follow(const std::string& job_name, const FollowHooks& hooks) {
  std::string said;
  Clock::time_point answered = Clock::now();
  while (true) {
    Result<std::vector<Element>> elements = queued(job_name);
    const double silent_s = std::chrono::duration<double>(Clock::now() - answered).count();
    if (!elements && (elements.error().code == Code::kUsage || silent_s > hooks.patience_s)) return elements.error();
    if (elements) answered = Clock::now();
    if (elements && elements.value().empty()) return Ok{};
    const std::string line = elements ? queue_line(elements.value()) : elements.error().message + "; looking again";
    if (line != said && hooks.say) hooks.say(line);
    said = line;
    if (!waited(hooks.look_every_s, hooks.stopped))
      return Error{Code::kCancelled, "stopped following; the jobs run on, and the same command picks them up again"};
  }
}

}  // namespace kagent::slurm
