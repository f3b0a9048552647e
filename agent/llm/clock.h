// Time and chance as the providers see them: one real implementation, one in tests that never sleeps.
#pragma once

#include <memory>

namespace kagent::llm {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual double now_s() = 0;   // monotonic
  virtual double unix_s() = 0;  // of the calendar, for Retry-After dates
  virtual void sleep(double seconds) = 0;
  virtual double random() = 0;  // in [0, 1)
};

std::shared_ptr<Clock> real_clock();

}  // namespace kagent::llm
