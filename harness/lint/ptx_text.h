// PTX as characters: comments and strings taken out, words and numbers found.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kagent::lint {

struct Bare {
  std::string text;                                          // as long as the original
  std::vector<std::pair<std::size_t, std::string>> strings;  // by the place of the opening quote
  bool ambiguous = false;  // has characters that two readers may take differently: a backslash, a control character
};

// Comments and contents of strings become spaces: ends of lines stay.
Bare bare_text(std::string_view ptx);

bool starts_name(char c);  // a letter, _, $ or %
bool in_name(char c);
bool is_digit(char c);

// A position in a bare text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}
  Cursor(const Cursor& other, std::size_t at) : text_(other.text_), at_(at) {}

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::string_view between(std::size_t begin, std::size_t end) const {
    return text_.substr(begin, end - begin);
  }
  void move(std::size_t n = 1) { at_ += n; }
  void skip_space();
  bool take(char c);          // after spaces
  std::string_view name();    // after spaces; "" if none stands there
  std::string_view number();  // after spaces: digits, letters and dots, with a sign
  int integer();              // after spaces; 0 if none
  // To the character after the next one of `stops` outside brackets, or to the end; what was passed without it.
  std::string_view pass(std::string_view stops);

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace kagent::lint
