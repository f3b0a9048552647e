// A cursor over text of unknown length and origin. It stands where a regular expression would: std::regex recurses once
// a character and overflows the stack on a long line.
#pragma once

#include <cctype>
#include <cstddef>
#include <optional>
#include <string_view>

namespace kagent::compile {

inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Scan {
 public:
  explicit Scan(std::string_view text, std::size_t at = 0) : text_(text), at_(at < text.size() ? at : text.size()) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool done() const { return at_ == text_.size(); }
  [[nodiscard]] char next() const { return done() ? '\0' : text_[at_]; }

  bool take(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }
  // Characters as long as `wanted` takes them.
  template <typename Wanted>
  std::string_view run(Wanted wanted) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && wanted(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::string_view blanks() { return run(is_blank); }
  std::string_view word() { return run(is_word); }

  // Decimal digits, all of them; nothing if there are none or more than nine, which is no number that means anything
  // here.
  std::optional<int> number() {
    const std::string_view digits = run(is_digit);
    if (digits.empty() || digits.size() > 9) return std::nullopt;
    int value = 0;
    for (const char c : digits) value = 10 * value + (c - '0');
    return value;
  }

 private:
  std::string_view text_;
  std::size_t at_;
};

}  // namespace kagent::compile
