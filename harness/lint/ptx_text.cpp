#include "harness/lint/ptx_text.h"

#include <algorithm>

namespace kagent::lint {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
bool in_name(char c) { return starts_name(c) || is_digit(c); }

Bare bare_text(std::string_view ptx) {
  Bare out;
  out.text.assign(ptx.size(), ' ');
  for (std::size_t i = 0; i < ptx.size(); ++i) {
    const char c = ptx[i];
    const char next = i + 1 < ptx.size() ? ptx[i + 1] : '\0';
    if (c == '/' && next == '/') {
      i = std::min(ptx.find('\n', i), ptx.size()) - 1;
      if (ptx[i] == '\\') out.ambiguous = true;  // does the comment go on in the next line?
    } else if (c == '/' && next == '*') {
      const std::size_t end = ptx.find("*/", i + 2);
      i = end == std::string_view::npos ? ptx.size() : end + 1;
    } else if (c == '"') {
      const std::size_t begin = i++;
      while (i < ptx.size() && ptx[i] != '"' && ptx[i] != '\n' && ptx[i] != '\\') ++i;
      if (i >= ptx.size() || ptx[i] != '"') out.ambiguous = true;
      out.strings.emplace_back(begin, ptx.substr(begin + 1, std::min(i, ptx.size()) - begin - 1));
      out.text[begin] = '"';
      if (i < ptx.size()) out.text[i] = '"';
    } else if (c == '\n' || (c > ' ' && c < 127 && c != '\\')) {
      out.text[i] = c;
    } else if (c != ' ' && c != '\t') {
      out.ambiguous = true;
    }
  }
  // A return or a NUL in a comment may end it for another reader.
  out.ambiguous = out.ambiguous || ptx.find_first_of(std::string_view("\0\r\v\f", 4)) != std::string_view::npos;
  return out;
}

void Cursor::skip_space() {
  while (!done() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
}

bool Cursor::take(char c) {
  skip_space();
  if (done() || text_[at_] != c) return false;
  ++at_;
  return true;
}

std::string_view Cursor::name() {
  skip_space();
  const std::size_t begin = at_;
  if (starts_name(peek())) {
    while (!done() && in_name(text_[at_])) ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

std::string_view Cursor::number() {
  skip_space();
  const std::size_t begin = at_;
  if (peek() == '-' || peek() == '+') ++at_;
  while (!done() && ((in_name(text_[at_]) && text_[at_] != '%') || text_[at_] == '.')) ++at_;
  return text_.substr(begin, at_ - begin);
}

int Cursor::integer() {
  skip_space();
  long value = 0;
  while (is_digit(peek())) {
    value = std::min(value * 10 + (peek() - '0'), 100000000L);
    ++at_;
  }
  return static_cast<int>(value);
}

std::string_view Cursor::pass(std::string_view stops) {
  const std::size_t begin = at_;
  int depth = 0;
  for (; !done(); ++at_) {
    const char c = text_[at_];
    if (depth == 0 && stops.find(c) != std::string_view::npos) return text_.substr(begin, at_++ - begin);
    if (c == '{' || c == '(' || c == '[') ++depth;
    if ((c == '}' || c == ')' || c == ']') && depth > 0) --depth;
  }
  return text_.substr(begin);
}

}  // namespace kagent::lint
