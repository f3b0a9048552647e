#include "agent/command/run_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "agent/command/print.h"

namespace kagent {
namespace {

constexpr const char* kClearLine = "\r\x1b[K";
constexpr auto kBetweenStandings = std::chrono::seconds(60);

}  // namespace

RunProgress::RunProgress(std::function<std::string()> standing)
    : standing_(std::move(standing)), terminal_(::isatty(STDERR_FILENO) == 1) {}

RunProgress::~RunProgress() {
  if (terminal_) fmt::print(stderr, "{}", kClearLine);
}

void RunProgress::say(const std::string& task, std::string_view what) {
  const std::lock_guard<std::mutex> guard(mutex_);
  const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  draw(fmt::format("{:7.1f} s  {:<6} {}", elapsed_s, printable(task), printable(what)));
}

void RunProgress::moved() {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (terminal_) return draw("");
  const auto now = std::chrono::steady_clock::now();
  if (now - last_standing_ < kBetweenStandings) return;
  last_standing_ = now;
  print_text(stderr, "{}\n", standing_());
}

void RunProgress::draw(const std::string& line) {
  if (!terminal_) {
    if (!line.empty()) fmt::print(stderr, "{}\n", line);
    return;
  }
  fmt::print(stderr, "{}{}{}{}", kClearLine, line, line.empty() ? "" : "\n", standing_());
  std::fflush(stderr);
}

}  // namespace kagent
