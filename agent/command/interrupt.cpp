#include "agent/command/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace kagent {
namespace {

std::atomic<bool> stop_asked = false;
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

void on_signal(int /*number*/) {
  stop_asked = true;
  static constexpr char kText[] =
      "\nkagent: stopping: waits for replies of the model that are on their way and for what is being judged; again: "
      "at once\n";
  [[maybe_unused]] const ssize_t told = ::write(STDERR_FILENO, kText, sizeof kText - 1);
}

}  // namespace

StopOnInterrupt::StopOnInterrupt() {
  stop_asked = false;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESETHAND;  // the second one does what it always does
  for (const int number : {SIGINT, SIGTERM}) ::sigaction(number, &action, nullptr);
}

StopOnInterrupt::~StopOnInterrupt() {
  for (const int number : {SIGINT, SIGTERM}) ::signal(number, SIG_DFL);
}

bool StopOnInterrupt::asked() { return stop_asked; }

}  // namespace kagent
