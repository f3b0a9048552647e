#include "agent/audit/blank.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace kagent::audit {
namespace {

constexpr std::size_t kMostDelimiter = 16;  // of a raw string, [lex.string]

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) {
  const auto u = static_cast<unsigned char>(c);
  return is_digit(c) || (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || u == '_' || u == '$' || u >= 0x80;
}
bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Reads tokens off the source, line splices (backslash, newline) left out as in translation phase 2.
class Blanker {
 public:
  explicit Blanker(std::string_view source) : source_(source), out_(source) {}

  Blanked run() && {
    if (source_.find('\r') != std::string_view::npos) doubt(0, "a carriage return");
    while (unsure_.empty() && !at_end()) token();
    if (!unsure_.empty()) return {std::string(source_), std::move(unsure_)};
    return {std::move(out_), ""};
  }

 private:
  void token() {
    const char c = peek();
    if (c == '\n') {
      in_directive_ = false;
      at_line_begin_ = true;
      next();
    } else if (c == ' ' || c == '\t') {
      next();
    } else if (c == '/' && (peek(1) == '/' || peek(1) == '*')) {
      comment();
    } else {
      const bool begins_line = std::exchange(at_line_begin_, false);
      if (c == '#' && begins_line) in_directive_ = true;
      code(c);
    }
  }

  void code(char c) {
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_name(c)) return word();
    if (c == '"' || c == '\'') return literal(asm_depth_ > 0);
    if (c == '\\' && peek(1) != 'u' && peek(1) != 'U') return doubt(at_, "a backslash outside a string");
    if (c == '(' && (awaits_asm_ || asm_depth_ > 0)) asm_depth_ += 1;
    if (c == ')' && asm_depth_ > 0) asm_depth_ -= 1;
    awaits_asm_ = false;
    next();
  }

  // [lex.ppnumber]: 1'000, 0x1p+3, 1.5e-3f
  void number() {
    awaits_asm_ = false;
    char last = next();
    while (!at_end()) {
      const char c = peek();
      const bool sign = (c == '+' || c == '-') && is_one_of({&last, 1}, {"e", "E", "p", "P"});
      const bool separator = c == '\'' && is_name(peek(1));
      if (!is_name(c) && c != '.' && !sign && !separator) return;
      last = next();
    }
  }

  void word() {
    const std::size_t begin = unspliced(at_);
    std::string name;
    while (!at_end() && is_name(peek())) name += next();
    if (peek() == '"' && is_one_of(name, {"R", "LR", "uR", "UR", "u8R"})) {
      if (unspliced(at_) - begin != name.size()) return doubt(begin, "a raw string whose prefix is broken over lines");
      return raw_string();
    }
    if (is_one_of(name, {"asm", "__asm__", "__asm"})) {
      awaits_asm_ = true;
    } else if (!is_one_of(name, {"volatile", "__volatile__", "__volatile", "inline", "__inline__", "goto"})) {
      awaits_asm_ = false;
    }
    const bool names_file =
        is_one_of(name, {"include", "include_next", "__has_include", "__has_include_next", "embed", "__has_embed"});
    if (in_directive_ && names_file) file_name();
  }

  // "..." or <...>, in which "//" is no comment and a quote begins no string.
  void file_name() {
    while (peek() == ' ' || peek() == '\t' || peek() == '(') next();
    if (peek() == '"') return literal(true);
    if (peek() != '<') return;
    const std::size_t begin = at_;
    while (!at_end() && peek() != '\n' && peek() != '>') {
      const char c = next();
      if (c == '"' || c == '\'' || c == '\\' || (c == '/' && (peek() == '/' || peek() == '*')))
        return doubt(begin, "a file name with a quote or a comment in it");
    }
  }

  void comment() {
    const std::size_t begin = unspliced(at_);
    const bool line = peek(1) == '/';
    bool closed = line;
    next();
    next();
    while (!at_end() && !(line && peek() == '\n')) {
      closed = line || (peek() == '*' && peek(1) == '/');
      next();
      if (line || !closed) continue;
      next();
      break;
    }
    erase(begin, at_);
    if (!closed) return doubt(begin, "a comment without an end");
    // Some compilers take the rest of a directive's line as it stands.
    const std::string_view text = source_.substr(begin, at_ - begin);
    if (!line && in_directive_ && text.find('\n') != std::string_view::npos)
      doubt(begin, "a comment that begins in a directive and goes on after it");
  }

  void literal(bool keep) {
    const std::size_t begin = at_;
    awaits_asm_ = false;
    const char quote = next();
    while (!at_end() && peek() != '\n') {
      if (peek() == quote) {
        next();
        return;
      }
      const bool escape = peek() == '\\';
      for (int i = 0; i < (escape ? 2 : 1) && !at_end() && peek() != '\n'; ++i) {
        next();
        if (!keep) erase(at_ - 1, at_);
      }
    }
    doubt(begin, quote == '"' ? "a string without an end" : "a character literal without an end");
  }

  // Splices are undone in a raw string, so it is read from the bytes.
  void raw_string() {
    const std::size_t begin = at_;
    const std::size_t open = source_.find_first_of("( )\\\t\v\f\n\"", begin + 1);
    if (open == std::string_view::npos || source_[open] != '(' || open - begin - 1 > kMostDelimiter)
      return doubt(begin, "a raw string without its parenthesis");
    const std::string end = fmt::format("){}\"", source_.substr(begin + 1, open - begin - 1));
    const std::size_t close = source_.find(end, open + 1);
    if (close == std::string_view::npos) return doubt(begin, "a raw string without an end");
    // In code that #if leaves out, some compilers see the directive and not the string.
    const std::string_view text = source_.substr(open + 1, close - open - 1);
    if (text.find('\n') != std::string_view::npos && (in_directive_ || text.find('#') != std::string_view::npos))
      return doubt(begin, "a raw string of several lines in a directive, or with a '#' in it");
    if (asm_depth_ == 0) erase(open + 1, close);
    awaits_asm_ = false;
    at_ = close + end.size();
  }

  [[nodiscard]] bool at_end() const { return unspliced(at_) >= source_.size(); }

  // The first position from `at` that is no line splice.
  [[nodiscard]] std::size_t unspliced(std::size_t at) const {
    while (at + 1 < source_.size() && source_[at] == '\\' && source_[at + 1] == '\n') at += 2;
    return at;
  }

  // The character `ahead` of the next one; '\0' past the end.
  [[nodiscard]] char peek(int ahead = 0) const {
    std::size_t at = unspliced(at_);
    for (; ahead > 0 && at < source_.size(); --ahead) at = unspliced(at + 1);
    return at < source_.size() ? source_[at] : '\0';
  }

  char next() {
    at_ = unspliced(at_);
    look_for_near_splice();
    return source_[at_++];
  }

  void erase(std::size_t begin, std::size_t end) {
    std::replace_if(
        out_.begin() + static_cast<std::ptrdiff_t>(begin), out_.begin() + static_cast<std::ptrdiff_t>(end),
        [](char c) { return c != '\n'; }, ' ');
  }

  // Compilers differ on a backslash and a newline with space between.
  void look_for_near_splice() {
    if (source_[at_] != '\\') return;
    const std::size_t after = source_.find_first_not_of(" \t\v\f", at_ + 1);
    if (after != std::string_view::npos && after > at_ + 1 && source_[after] == '\n')
      doubt(at_, "a backslash with space between it and the end of its line");
  }

  void doubt(std::size_t at, std::string_view why) {
    if (!unsure_.empty()) return;
    const auto line = std::count(source_.begin(), source_.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
    unsure_ = fmt::format("line {}: {}", line, why);
  }

  std::string_view source_;
  std::string out_;
  std::string unsure_;
  std::size_t at_ = 0;
  bool at_line_begin_ = true;
  bool in_directive_ = false;
  bool awaits_asm_ = false;  // after asm and its qualifiers
  int asm_depth_ = 0;        // open parentheses of an asm statement
};

}  // namespace

Blanked blank(std::string_view source) { return Blanker(source).run(); }

}  // namespace kagent::audit
