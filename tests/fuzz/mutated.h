// Mutations of a text for tests of readers: the same ones for the same generator.
#pragma once

#include <algorithm>
#include <random>
#include <string>

namespace kagent {

// One to four changes: cut off, insert, erase, repeat, or another byte; what is inserted tells readers of JSON, code
// and Markdown something.
inline std::string mutated(std::string bytes, std::mt19937& generator) {
  static const std::string kTelling = "{}[]()<>\",:;.\\\r\n \t\xff\x80`#=*%-0e9uS_" + std::string(1, '\0');
  const auto any = [&](std::size_t below) { return generator() % std::max<std::size_t>(1, below); };
  for (std::size_t changes = 1 + any(4); changes > 0; --changes) {
    const std::size_t at = any(bytes.size() + 1);
    switch (any(6)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.insert(at, 1, kTelling[any(kTelling.size())]);
        break;
      case 2:
        bytes.erase(at, 1 + any(16));
        break;
      case 3:
        bytes.insert(at, bytes.substr(any(bytes.size()), any(40)));
        break;
      case 4:
        bytes.insert(at, std::string(any(200), kTelling[any(kTelling.size())]));
        break;
      default:
        if (at < bytes.size()) bytes[at] = static_cast<char>(generator());
    }
  }
  return bytes;
}

}  // namespace kagent
