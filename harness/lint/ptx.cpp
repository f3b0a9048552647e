#include "harness/lint/ptx.h"

namespace kagent::lint {

std::optional<int> Module::line_of(const Statement& s) const {
  int at = s.place;
  for (int depth = 0; at != kNone && depth < 64; ++depth) {
    const Place& place = places[static_cast<std::size_t>(at)];
    if (place.file == answer_file) return place.line;
    at = place.from;
  }
  return std::nullopt;
}

}  // namespace kagent::lint
