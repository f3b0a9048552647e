// What time it is. Passed in, so that tests say what time it is.
#pragma once

#include <string>

namespace kagent {

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::string now_utc() const = 0;  // RFC 3339 with milliseconds: 2026-12-01T06:30:00.123Z
  [[nodiscard]] virtual double steady_s() const = 0;      // never runs backwards; only differences mean something
};

// The machine's own clock; lives for ever.
const Clock& system_clock();

}  // namespace kagent
