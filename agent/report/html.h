// HTML that is put together from two kinds of text only: markup, which is written in this program, and everything else,
// which text() escapes. There is no third way in.
#pragma once

#include <string>
#include <string_view>

namespace kagent::report {

// Markup: a string literal of this program's.
class Markup {
 public:
  template <std::size_t N>
  consteval Markup(const char (&literal)[N]) : text_(literal, N - 1) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] constexpr std::string_view view() const { return text_; }

 private:
  std::string_view text_;
};

class Html {
 public:
  Html& operator<<(Markup markup) {
    bytes_ += markup.view();
    return *this;
  }
  Html& operator<<(const Html& part) {
    bytes_ += part.bytes_;
    return *this;
  }
  Html& operator<<(int number) {
    bytes_ += std::to_string(number);
    return *this;
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  friend Html text(std::string_view anything);
  std::string bytes_;
};

// Any bytes as text, in an element or in a quoted attribute. Control characters, invisible ones and those that change
// the direction of writing are shown by name (U+202E), bytes that are no UTF-8 as U+FFFD; line feeds and tabs stay.
Html text(std::string_view anything);

// Coordinates and lengths in SVG: one decimal.
Html number(double value);

}  // namespace kagent::report
