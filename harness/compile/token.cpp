#include "harness/compile/token.h"

#include <algorithm>
#include <array>

namespace kagent::compile {
namespace {

constexpr std::array<std::string_view, 24> kPunctuators = {
    "%:%:", "<<=", ">>=", "...", "->*", "##", "%:", "::", "->", "++", "--", "<<",
    ">>",   "<=",  ">=",  "==",  "!=",  "&&", "||", "+=", "-=", "*=", "/=", "|="};
constexpr std::size_t kMaxRawDelimiter = 16;

bool is_digit(int c) { return c >= '0' && c <= '9'; }
bool is_word(int c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }
bool is_blank(int c) { return c == ' ' || (c > 0 && c < 0x20 && c != '\n') || c == 0x7f || c == 0; }

class Lexer {
 public:
  Lexer(std::string_view source, std::vector<Diagnostic>& problems) : source_(source), problems_(problems) {
    if (source_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
  }

  Tokens run() {
    Tokens out;
    while (skip_space()) out.push_back(next());
    return out;
  }

 private:
  static constexpr int kEnd = -1;

  // The character `ahead` places on, splices left out.
  [[nodiscard]] int peek(int ahead = 0) const {
    std::size_t at = skip_splices(at_);
    for (; ahead > 0 && at < source_.size(); --ahead) at = skip_splices(at + 1);
    return at < source_.size() ? static_cast<unsigned char>(source_[at]) : kEnd;
  }
  [[nodiscard]] std::size_t skip_splices(std::size_t at) const {
    while (at < source_.size() && source_[at] == '\\') {
      std::size_t end = at + 1;
      if (end < source_.size() && source_[end] == '\r') ++end;
      if (end >= source_.size() || source_[end] != '\n') break;
      at = end + 1;
    }
    return at;
  }
  void advance() {
    const std::size_t to = skip_splices(at_);
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    at_ = to;
    if (at_ < source_.size() && source_[at_++] == '\n') ++line_;
  }
  void take(std::string& into) {
    into += static_cast<char>(peek());
    advance();
  }
  [[nodiscard]] bool starts(std::string_view with) const {
    for (std::size_t i = 0; i < with.size(); ++i) {
      if (peek(static_cast<int>(i)) != static_cast<unsigned char>(with[i])) return false;
    }
    return true;
  }

  // To the next token; false at the end.
  bool skip_space() {
    for (int c = peek(); c != kEnd; c = peek()) {
      if (c == '\n') {
        fresh_line_ = true;
      } else if (c == '/' && peek(1) == '/') {
        while (peek() != kEnd && peek() != '\n') advance();
        space_ = true;
        continue;
      } else if (c == '/' && peek(1) == '*') {
        skip_block_comment();
        space_ = true;
        continue;
      } else if (!is_blank(c)) {
        return true;
      }
      space_ = true;
      advance();
    }
    return false;
  }
  void skip_block_comment() {
    const int start = line_;
    advance();
    advance();
    while (!(peek() == '*' && peek(1) == '/')) {
      if (peek() == kEnd) return problems_.push_back({start, "this comment has no end: close it with */"});
      advance();
    }
    advance();
    advance();
  }

  Token next() {
    Token token;
    skip_to_character();
    token.line = line_;
    token.space_before = space_;
    token.first_on_line = fresh_line_;
    space_ = fresh_line_ = false;
    const int c = peek();
    if (is_word(c) && !is_digit(c)) {
      word(token);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number(token);
    } else if (c == '"' || c == '\'') {
      quoted(token);
    } else {
      punctuator(token);
    }
    return token;
  }
  void skip_to_character() {  // so that a token's line is its first character's
    const std::size_t to = skip_splices(at_);
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    at_ = to;
  }

  void word(Token& token) {
    token.kind = Token::Kind::kIdentifier;
    while (is_word(peek())) take(token.text);
    const bool prefix = token.text == "u8" || token.text == "u" || token.text == "U" || token.text == "L";
    const bool raw =
        token.text == "R" || token.text == "u8R" || token.text == "uR" || token.text == "UR" || token.text == "LR";
    if (raw && peek() == '"') {
      raw_string(token);
    } else if (prefix && (peek() == '"' || peek() == '\'')) {
      quoted(token);
    }
  }

  void number(Token& token) {
    token.kind = Token::Kind::kNumber;
    for (;;) {
      const int c = peek();
      const char last = token.text.empty() ? '\0' : token.text.back();
      const bool exponent = last == 'e' || last == 'E' || last == 'p' || last == 'P';
      if (is_word(c) || c == '.' || ((c == '+' || c == '-') && exponent) || (c == '\'' && is_word(peek(1)))) {
        take(token.text);
      } else {
        return;
      }
    }
  }

  void quoted(Token& token) {
    const int quote = peek();
    token.kind = quote == '"' ? Token::Kind::kString : Token::Kind::kCharacter;
    take(token.text);
    while (peek() != quote) {
      const int c = peek();
      if (c == kEnd || c == '\n') {
        problems_.push_back({token.line, std::string("missing closing ") + static_cast<char>(quote)});
        token.text += static_cast<char>(quote);  // keeps the text that is passed on well formed
        return;
      }
      if (c == '\\' && peek(1) != kEnd && peek(1) != '\n') take(token.text);
      if (is_blank(peek())) {
        token.text += ' ';
        advance();
      } else {
        take(token.text);
      }
    }
    take(token.text);
  }

  // R"delimiter( ... )delimiter": nothing is spliced within.
  void raw_string(Token& token) {
    token.kind = Token::Kind::kString;
    const std::size_t quote = skip_splices(at_);
    const std::size_t open = source_.find('(', quote);
    const std::size_t close =
        open == std::string_view::npos || open - quote - 1 > kMaxRawDelimiter
            ? std::string_view::npos
            : source_.find(")" + std::string(source_.substr(quote + 1, open - quote - 1)) + "\"", open);
    if (close == std::string_view::npos) {
      problems_.push_back({token.line, "this raw string has no end"});
      token.text = "\"\"";
      while (peek() != kEnd && peek() != '\n') advance();
      return;
    }
    const std::size_t end = close + (open - quote - 1) + 2;
    for (std::size_t i = quote; i < end; ++i) {
      if (source_[i] == '\n') ++line_;
      token.text += source_[i] == '\n' || !is_blank(static_cast<unsigned char>(source_[i])) ? source_[i] : ' ';
    }
    at_ = end;
  }

  void punctuator(Token& token) {
    for (const auto spelling : kPunctuators) {
      if (!starts(spelling)) continue;
      for (std::size_t i = 0; i < spelling.size(); ++i) take(token.text);
      if (token.text == "%:") token.text = "#";
      if (token.text == "%:%:") token.text = "##";
      return;
    }
    take(token.text);
  }

  std::string_view source_;
  std::vector<Diagnostic>& problems_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool space_ = false;
  bool fresh_line_ = true;
};

}  // namespace

Tokens lex(std::string_view source, std::vector<Diagnostic>& problems) { return Lexer(source, problems).run(); }

}  // namespace kagent::compile
