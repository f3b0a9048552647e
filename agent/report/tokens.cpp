#include "agent/report/tokens.h"

#include <algorithm>
#include <array>

namespace kagent::report {
namespace {

constexpr std::array<std::string_view, 79> kCudaWords = {"__constant__",
                                                         "__device__",
                                                         "__forceinline__",
                                                         "__global__",
                                                         "__grid_constant__",
                                                         "__half",
                                                         "__launch_bounds__",
                                                         "__noinline__",
                                                         "__restrict__",
                                                         "__shared__",
                                                         "__volatile__",
                                                         "alignas",
                                                         "asm",
                                                         "auto",
                                                         "bool",
                                                         "break",
                                                         "case",
                                                         "char",
                                                         "class",
                                                         "const",
                                                         "const_cast",
                                                         "constexpr",
                                                         "continue",
                                                         "decltype",
                                                         "default",
                                                         "do",
                                                         "double",
                                                         "else",
                                                         "enum",
                                                         "explicit",
                                                         "extern",
                                                         "false",
                                                         "float",
                                                         "float2",
                                                         "float4",
                                                         "for",
                                                         "half",
                                                         "half2",
                                                         "if",
                                                         "inline",
                                                         "int",
                                                         "int16_t",
                                                         "int32_t",
                                                         "int64_t",
                                                         "int8_t",
                                                         "long",
                                                         "namespace",
                                                         "nullptr",
                                                         "operator",
                                                         "private",
                                                         "public",
                                                         "register",
                                                         "reinterpret_cast",
                                                         "return",
                                                         "short",
                                                         "signed",
                                                         "size_t",
                                                         "sizeof",
                                                         "static",
                                                         "static_assert",
                                                         "static_cast",
                                                         "struct",
                                                         "switch",
                                                         "template",
                                                         "this",
                                                         "true",
                                                         "typedef",
                                                         "typename",
                                                         "uint16_t",
                                                         "uint32_t",
                                                         "uint4",
                                                         "uint64_t",
                                                         "uint8_t",
                                                         "union",
                                                         "unsigned",
                                                         "using",
                                                         "void",
                                                         "volatile",
                                                         "while"};

constexpr std::array<std::string_view, 35> kPythonWords = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Reader {
 public:
  Reader(std::string_view code, Language language) : code_(code), cuda_(language == Language::kCuda) {}

  std::vector<Token> all() {
    while (at_ < code_.size()) {
      const std::size_t begin = at_;
      const TokenKind kind = next();
      const std::string_view piece = code_.substr(begin, at_ - begin);
      if (kind == TokenKind::kPlain && !tokens_.empty() && tokens_.back().kind == kind) {
        std::string_view& last = tokens_.back().text;
        last = std::string_view(last.data(), last.size() + piece.size());
      } else {
        tokens_.push_back({kind, piece});
      }
    }
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] bool here(std::string_view what) const { return code_.substr(at_, what.size()) == what; }
  [[nodiscard]] char peek(std::size_t ahead) const { return at_ + ahead < code_.size() ? code_[at_ + ahead] : '\0'; }

  void to_end_of(std::string_view what, std::size_t from) {
    const std::size_t end = code_.find(what, std::min(from, code_.size()));
    at_ = end == std::string_view::npos ? code_.size() : end + what.size();
  }

  void to_end_of_line() { at_ = std::min(code_.find('\n', at_), code_.size()); }

  // A string ends at its quote; one that is not closed, at the end of its line.
  void string(char quote) {
    for (++at_; at_ < code_.size() && code_[at_] != '\n'; ++at_) {
      if (code_[at_] == quote) {
        ++at_;
        return;
      }
      if (code_[at_] == '\\' && at_ + 1 < code_.size()) ++at_;
    }
  }

  TokenKind word() {
    const std::size_t begin = at_;
    while (at_ < code_.size() && is_word(code_[at_])) ++at_;
    const std::string_view found = code_.substr(begin, at_ - begin);
    const bool keyword = cuda_ ? std::find(kCudaWords.begin(), kCudaWords.end(), found) != kCudaWords.end()
                               : std::find(kPythonWords.begin(), kPythonWords.end(), found) != kPythonWords.end();
    return keyword ? TokenKind::kKeyword : TokenKind::kPlain;
  }

  void number() {
    while (at_ < code_.size() &&
           (is_word(code_[at_]) || code_[at_] == '.' || (cuda_ && code_[at_] == '\'' && is_word(peek(1)))))
      ++at_;
  }

  TokenKind next() {
    const char c = code_[at_];
    if (cuda_ ? here("//") : c == '#') {
      to_end_of_line();
      return TokenKind::kComment;
    }
    if (cuda_ && here("/*")) {
      to_end_of("*/", at_ + 2);
      return TokenKind::kComment;
    }
    if (!cuda_ && (here("\"\"\"") || here("'''"))) {
      to_end_of(code_.substr(at_, 3), at_ + 3);
      return TokenKind::kString;
    }
    if (c == '"' || c == '\'') {
      string(c);
      return TokenKind::kString;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
      return TokenKind::kNumber;
    }
    if (cuda_ && c == '#') {  // a directive's name; what follows it is code
      ++at_;
      while (peek(0) == ' ') ++at_;
      while (is_word(peek(0))) ++at_;
      return TokenKind::kKeyword;
    }
    if (is_word(c)) return word();
    ++at_;
    return TokenKind::kPlain;
  }

  std::string_view code_;
  bool cuda_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view code, Language language) { return Reader(code, language).all(); }

}  // namespace kagent::report
