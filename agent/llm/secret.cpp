#include "agent/llm/secret.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace kagent::llm {
namespace {

std::mutex keys_mutex;

std::map<std::string, std::string>& keys() {
  static std::map<std::string, std::string> known;
  return known;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const unsigned char c : text) {
    if (std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~')
      out += static_cast<char>(c);
    else
      out += fmt::format("%{:02X}", c);
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

}  // namespace

Result<std::string> take_key(const std::string& name) {
  const std::lock_guard<std::mutex> guard(keys_mutex);
  if (char* value = std::getenv(name.c_str())) {
    keys()[name] = trimmed(value);
    std::memset(value, 0, std::strlen(value));
    ::unsetenv(name.c_str());
  }
  const std::string& key = keys()[name];
  for (const unsigned char c : key) {
    if (c <= ' ' || c == 0x7f)
      return Error{Code::kUsage,
                   fmt::format("the key in {} has a space or a control character inside; set it anew", name)};
  }
  return key;
}

std::string without_key(std::string text, std::string_view key) {
  constexpr std::size_t kShortestSecret = 8;
  constexpr std::size_t kTellingPart = 16;  // servers echo keys cut short
  if (key.size() < kShortestSecret) return text;
  replace_all(text, key, "[key]");
  replace_all(text, percent_encoded(key), "[key]");
  if (key.size() >= 2 * kTellingPart) {
    replace_all(text, key.substr(0, key.size() / 2), "[key]");
    replace_all(text, key.substr(key.size() / 2), "[key]");
  }
  return text;
}

std::string one_line(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : text) {
    const bool blank = static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
    if (out.size() > most) {
      out.resize(most);
      while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();
      if (!out.empty() && (static_cast<unsigned char>(out.back()) & 0x80) != 0) out.pop_back();
      return out + "...";
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace kagent::llm
