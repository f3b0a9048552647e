#include "harness/compile/lexed.h"

#include <algorithm>
#include <vector>

#include "harness/compile/scan.h"

namespace kagent::compile {
namespace {

enum class Part : char { kCode, kComment, kLiteral };  // of a literal: what is between its quotes

// Is the quote at `at` a digit separator (1'000) and no character (L'x')?
bool separates_digits(const std::string& text, std::size_t at) {
  constexpr std::size_t kLongest = 100;  // a number
  std::size_t begin = at;
  while (begin > 0 && at - begin < kLongest &&
         (is_word(text[begin - 1]) || text[begin - 1] == '\'' || text[begin - 1] == '.'))
    --begin;
  return begin < at && is_digit(text[begin]);
}

// What each character is part of. A line break ends whatever cannot go beyond it.
std::vector<Part> parts_of(const std::string& text) {
  std::vector<Part> parts(text.size(), Part::kCode);
  const auto fill = [&](std::size_t begin, std::size_t end, Part part) {
    std::fill(parts.begin() + static_cast<std::ptrdiff_t>(begin), parts.begin() + static_cast<std::ptrdiff_t>(end),
              part);
    return end;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      i = fill(i, std::min(text.find('\n', i), text.size()), Part::kComment);
    } else if (text.compare(i, 2, "/*") == 0) {
      const std::size_t close = text.find("*/", i + 2);
      i = fill(i, close == std::string::npos ? text.size() : close + 2, Part::kComment);
    } else if (text[i] == '"' || (text[i] == '\'' && !separates_digits(text, i))) {
      std::size_t end = i + 1;
      while (end < text.size() && text[end] != text[i] && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      i = fill(i + 1, std::min(end, text.size()), Part::kLiteral) + 1;
    } else {
      ++i;
    }
  }
  return parts;
}

}  // namespace

std::string blanked(const std::string& text) {
  const std::vector<Part> parts = parts_of(text);
  std::string out = text;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (parts[i] != Part::kCode && out[i] != '\n') out[i] = ' ';
  }
  return out;
}

std::string without_comments(const std::string& text) {
  const std::vector<Part> parts = parts_of(text);
  std::string out;
  std::size_t owed = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (parts[i] == Part::kComment) {
      owed += text[i] == '\n' ? 1 : 0;
      if (i == 0 || parts[i - 1] != Part::kComment) out += ' ';
      continue;
    }
    out += text[i];
    if (text[i] != '\n') continue;
    out.append(owed, '\n');
    owed = 0;
  }
  out.append(owed, '\n');
  return out;
}

std::string joined_lines(const std::string& text) {
  const std::string code = blanked(text);
  std::string out;
  std::size_t owed = 0;  // lines that were joined to this one
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::size_t last = end;
    while (last > begin && is_blank(text[last - 1])) --last;
    const bool backslash = last > begin && text[last - 1] == '\\';
    const bool in_doubt = backslash && last < end && code[last - 1] == ' ';  // of a comment
    const bool goes_on = backslash && !in_doubt;
    out.append(text, begin, (backslash ? last - 1 : end) - begin);
    if (goes_on) {
      ++owed;
    } else {
      out.append(owed, '\n');
      owed = 0;
    }
    if (end < text.size() && !goes_on) out += '\n';
    begin = end + 1;
  }
  out.append(owed, '\n');
  return out;
}

bool has_raw_string(const std::string& code) {
  for (std::size_t at = code.find("R\""); at != std::string::npos; at = code.find("R\"", at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_word(code[begin - 1])) --begin;
    const std::string word = code.substr(begin, at + 1 - begin);
    if (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R") return true;
  }
  return false;
}

}  // namespace kagent::compile
