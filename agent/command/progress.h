// Progress on stderr: elapsed time and phase, one line a phase.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace kagent {

class ProgressLine {
 public:
  enum class Show { kYes, kNo };
  explicit ProgressLine(Show show) : show_(show) {}

  // "  12.3 s  3/9  visible check"
  void say(std::string_view what) const;
  // Put in front of every later line, e.g. "3/9 sample 2".
  void set_subject(std::string subject) { subject_ = std::move(subject); }

 private:
  Show show_;
  std::string subject_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace kagent
