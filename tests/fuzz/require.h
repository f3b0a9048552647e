// What a fuzz target holds true of everything it reads; assert() is off in optimised builds.
#pragma once

#include <cstdlib>
#include <string_view>

inline void require(bool holds) {
  if (!holds) std::abort();
}

// The next part of an input of several texts, which are separated by a line of three equals signs.
inline std::string_view next_part(std::string_view& bytes) {
  constexpr std::string_view kSeparator = "\n===\n";
  const std::size_t end = bytes.find(kSeparator);
  const std::string_view part = bytes.substr(0, end);
  bytes = end == std::string_view::npos ? std::string_view() : bytes.substr(end + kSeparator.size());
  return part;
}
