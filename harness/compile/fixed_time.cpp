// NVRTC writes the current time where a source reaches __DATE__ or __TIME__, if only by pasting tokens. The same source
// must give the same bytes, so in this process it is always the same second: the program's own time() comes before
// libc's.
#include <ctime>

namespace {
constexpr std::time_t kMillennium = 946684800;  // 2000-01-01 00:00:00 UTC
}

extern "C" __attribute__((visibility("default"))) std::time_t time(std::time_t* out) noexcept {
  if (out != nullptr) *out = kMillennium;
  return kMillennium;
}
