#include "agent/answer/reasoning.h"

#include <string>

namespace kagent::answer {
namespace {

bool alone_on_its_line(std::string_view raw, std::size_t begin, std::size_t end) {
  const std::size_t before = raw.substr(0, begin).find_last_not_of(" \t");
  const std::size_t after = raw.find_first_not_of(" \t\r", end);
  const bool begins_line = before == std::string_view::npos || raw[before] == '\n';
  return begins_line && (after == std::string_view::npos || raw[after] == '\n');
}

}  // namespace

std::size_t reasoning_bytes(std::string_view raw) {
  const std::size_t start = raw.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return 0;
  for (const char* word : {"think", "thinking", "reasoning"}) {
    const std::string opening = std::string("<") + word + ">";
    const std::string closing = std::string("</") + word + ">";
    const std::size_t close = raw.find(closing);
    if (close == std::string_view::npos) continue;
    const std::size_t end = close + closing.size();
    if (raw.substr(start, opening.size()) == opening) return end;
    const bool opened = raw.substr(0, close).find(opening) != std::string_view::npos;
    if (!opened && alone_on_its_line(raw, close, end)) return end;
  }
  return 0;
}

}  // namespace kagent::answer
