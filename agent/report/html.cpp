#include "agent/report/html.h"

#include <fmt/format.h>

#include "agent/base/utf8.h"

namespace kagent::report {
namespace {

bool within(std::uint32_t code, std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; }

// What a reader would not see, or what makes him see something else than what is there.
bool hides(std::uint32_t code) {
  return within(code, 0x7F, 0x9F) || code == 0xAD || code == 0x61C || code == 0x180E || within(code, 0x200B, 0x200F) ||
         within(code, 0x2028, 0x202E) || within(code, 0x2060, 0x206F) || code == 0xFEFF ||
         within(code, 0xFFF9, 0xFFFB) || (code & 0xFFFE) == 0xFFFE || within(code, 0xE0000, 0xE0FFF);
}

}  // namespace

Html text(std::string_view anything) {
  Html out;
  std::string& bytes = out.bytes_;
  bytes.reserve(anything.size() + anything.size() / 16);
  for (std::size_t at = 0; at < anything.size();) {
    const char c = anything[at];
    std::uint32_t code = 0;
    const std::size_t length = decode_utf8(anything, at, code);
    if (length == 0) {
      bytes += "\uFFFD";
    } else if (c == '&') {
      bytes += "&amp;";
    } else if (c == '<') {
      bytes += "&lt;";
    } else if (c == '>') {
      bytes += "&gt;";
    } else if (c == '"') {
      bytes += "&quot;";
    } else if (c == '\'') {
      bytes += "&#39;";
    } else if (code < 0x20 && c != '\n' && c != '\t') {
      bytes += fmt::format("\xE2\x90{}", static_cast<char>(0x80 + code));  // U+2400 and on: pictures of controls
    } else if (hides(code)) {
      bytes += fmt::format("[U+{:04X}]", code);
    } else {
      bytes += anything.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return out;
}

Html number(double value) { return text(fmt::format("{:.1f}", value)); }

}  // namespace kagent::report
