#include "agent/command/progress.h"

#include "agent/command/print.h"

namespace kagent {

void ProgressLine::say(std::string_view what) const {
  if (show_ == Show::kNo) return;
  const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  print_text(stderr, "{:7.1f} s  {}{}{}\n", elapsed_s, subject_, subject_.empty() ? "" : "  ", printable(what));
}

}  // namespace kagent
