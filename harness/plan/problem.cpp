#include "harness/plan/problem.h"

namespace kagent::plan {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 80;
  std::string out = "\"";
  for (const char c : text.substr(0, kMost)) out += c >= ' ' && c < 127 ? c : '?';
  return out + (text.size() > kMost ? "...\"" : "\"");
}

}  // namespace kagent::plan
