#include "agent/base/printable.h"

#include <algorithm>
#include <cstdint>

#include "agent/base/utf8.h"

namespace kagent {
namespace {

bool harmless(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool separator = code == 0x2028 || code == 0x2029;
  const bool direction = code == 0x200E || code == 0x200F || code == 0x061C || (code >= 0x202A && code <= 0x202E) ||
                         (code >= 0x2066 && code <= 0x2069);
  return !control && !separator && !direction;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t code = 0;
    const std::size_t length = decode_utf8(text, at, code);
    if (length == 0) {
      out += '?';
      ++at;
      continue;
    }
    if (harmless(code)) {
      out += text.substr(at, length);
    } else {
      out += ' ';
    }
    at += length;
  }
  return out;
}

std::string name_text(std::string_view name) {
  const bool plain =
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~' && c != '"' && c != '\''; });
  return plain && !name.empty() ? std::string(name) : "\"" + printable(name) + "\"";
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    out += printable(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) break;
    out += '\n';
    at = end + 1;
  }
  return out;
}

}  // namespace kagent
