// Ctrl-C and SIGTERM ask to stop: what is being judged, and a reply on its way, is finished and logged first. A second
// one ends the process at once, which the log survives.
#pragma once

namespace kagent {

class StopOnInterrupt {
 public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;

  // True once asked, in every thread.
  static bool asked();
};

}  // namespace kagent
