#include "agent/base/settings_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "agent/base/printable.h"
#include "agent/base/utf8.h"

namespace kagent {
namespace {

constexpr std::size_t kMostShown = 40;  // bytes of the file in a message

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
  } else {
    byte(0xF0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3F));
    byte(0x80 | (code >> 6 & 0x3F));
  }
  byte(0x80 | (code & 0x3F));
}

// [+-]? digits with single _ between them and no leading zero; what follows the last digit read.
std::optional<std::size_t> after_digits(std::string_view word, std::size_t at, bool leading_zero) {
  const std::size_t begin = at;
  while (at < word.size() && (is_digit(word[at]) || (word[at] == '_' && at > begin && word[at - 1] != '_'))) ++at;
  if (at == begin || word[at - 1] == '_') return std::nullopt;
  if (!leading_zero && word[begin] == '0' && at > begin + 1) return std::nullopt;
  return at;
}

// Whether the whole word is a number as TOML writes it, and whether it is a float.
enum class Number { kNone, kWhole, kFloat };
Number number_form(std::string_view word) {
  const auto sign = [&](std::size_t at) { return at < word.size() && (word[at] == '+' || word[at] == '-') ? 1U : 0U; };
  auto at = after_digits(word, sign(0), false);
  if (at && *at == word.size()) return Number::kWhole;
  if (at && word[*at] == '.') {
    at = after_digits(word, *at + 1, true);
    if (at && *at == word.size()) return Number::kFloat;
  }
  if (at && (word[*at] == 'e' || word[*at] == 'E')) {
    at = after_digits(word, *at + 1 + sign(*at + 1), true);
    if (at && *at == word.size()) return Number::kFloat;
  }
  return Number::kNone;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Result<std::vector<Setting>> read() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte order mark, as some editors write
    std::map<std::string, int, std::less<>> lines;   // of the names so far
    while (skip_to_setting()) {
      Setting setting;
      setting.line = line_;
      if (Status read = name(setting.name); !read) return read.error();
      const auto [first, is_new] = lines.emplace(setting.name, line_);
      if (!is_new) {
        return wrong(
            fmt::format("{} is given again, after line {}; leave one of them out", setting.name, first->second));
      }
      if (Status read = value(setting.value); !read) return read.error();
      if (Status read = end_of_line(setting.name); !read) return read.error();
      settings_.push_back(std::move(setting));
    }
    return std::move(settings_);
  }

 private:
  [[nodiscard]] Error wrong(std::string_view what) const {
    return {Code::kParse, printable(fmt::format("{}:{}: {}", file_, line_, what))};
  }
  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] char here() const { return done() ? '\0' : text_[at_]; }
  [[nodiscard]] bool line_ends_here() const {
    return done() || here() == '\n' || (here() == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n');
  }
  void skip_blanks() {
    while (!done() && (here() == ' ' || here() == '\t')) ++at_;
  }
  // Blanks and a comment, to the end of the line.
  void skip_comment() {
    skip_blanks();
    if (here() != '#' || done()) return;
    at_ = std::min(text_.find('\n', at_), text_.size());
  }
  // What stands here, to the end of its line.
  [[nodiscard]] std::string rest_of_line() const {
    const std::string_view rest = text_.substr(at_, std::min(text_.find_first_of("\r\n", at_), text_.size()) - at_);
    return printable(rest.substr(0, kMostShown)) + (rest.size() > kMostShown ? "..." : "");
  }
  // Over line ends, if one is here.
  bool skip_line_end() {
    if (done() || !line_ends_here()) return false;
    at_ += here() == '\r' ? 2 : 1;
    ++line_;
    return true;
  }
  bool skip_to_setting() {
    do {
      skip_comment();
    } while (skip_line_end());
    return !done();
  }

  Status name(std::string& out) {
    if (here() == '[')
      return wrong("there are no tables in a settings file; write its settings as name = value, without a [header]");
    const std::size_t begin = at_;
    while (!done() && is_name_byte(here())) ++at_;
    out = std::string(text_.substr(begin, std::min(at_ - begin, kMostShown * 2)));
    if (at_ == begin)
      return wrong(fmt::format("a name is expected and \"{}\" stands there; write name = value", rest_of_line()));
    skip_blanks();
    if (here() == '.') return wrong("a name has no dots here; write name = value");
    if (here() != '=' || done()) return wrong(fmt::format("{} has no value; write {} = value", out, out));
    ++at_;
    skip_blanks();
    name_ = out;
    return Ok{};
  }

  Status end_of_line(const std::string& after) {
    skip_comment();
    if (done() || skip_line_end()) return Ok{};
    return wrong(fmt::format("\"{}\" stands after the value of {}; write one setting a line", rest_of_line(), after));
  }

  Status value(SettingValue& out) {
    if (line_ends_here() || here() == '#') return wrong(fmt::format("{} has no value; write {} = value", name_, name_));
    if (here() == '"' || here() == '\'') {
      std::string text;
      Status read = quoted(text);
      out = std::move(text);
      return read;
    }
    if (here() == '[') {
      std::vector<std::string> list;
      Status read = texts(list);
      out = std::move(list);
      return read;
    }
    return bare(out);
  }

  // true, false or a number.
  Status bare(SettingValue& out) {
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n#,]", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    if (word == "true" || word == "false") {
      out = word == "true";
    } else if (const Number form = number_form(word); form != Number::kNone) {
      std::string digits;
      for (const char c : word.substr(word.front() == '+' ? 1 : 0)) {
        if (c != '_') digits += c;
      }
      if (!number(digits, form, out))
        return wrong(fmt::format("the number of {} is too large; give a smaller one", name_));
    } else {
      return wrong(fmt::format("\"{}\" is no value; text stands in quotes: {} = \"...\"", rest_of_line(), name_));
    }
    at_ = end;
    return Ok{};
  }
  static bool number(const std::string& digits, Number form, SettingValue& out) {
    const char* end = digits.data() + digits.size();
    if (form == Number::kWhole) {
      std::int64_t whole = 0;
      if (std::from_chars(digits.data(), end, whole).ec != std::errc()) return false;
      out = whole;
      return true;
    }
    double real = 0;
    if (std::from_chars(digits.data(), end, real).ec != std::errc() || !std::isfinite(real)) return false;
    out = real;
    return true;
  }

  Status texts(std::vector<std::string>& out) {
    const int opened = line_;
    ++at_;
    while (true) {
      skip_to_setting();
      if (done()) {
        line_ = opened;
        return wrong(fmt::format("the list of {} is not closed; end it with ]", name_));
      }
      if (here() == ']') break;
      if (here() != '"' && here() != '\'') {
        return wrong(fmt::format("a list holds texts in quotes, as in {} = [\"a\", \"b\"], and \"{}\" is none", name_,
                                 rest_of_line()));
      }
      out.emplace_back();
      if (Status read = quoted(out.back()); !read) return read;
      skip_to_setting();
      if (here() == ',') {
        ++at_;
      } else if (!done() && here() != ']') {
        return wrong(fmt::format("a comma or ] is missing in the list of {}, before \"{}\"", name_, rest_of_line()));
      }
    }
    ++at_;
    return Ok{};
  }

  Status quoted(std::string& out) {
    const char quote = here();
    if (text_.substr(at_, 3) == std::string(3, quote))
      return wrong(fmt::format("text of several lines is not read here; write {} = \"...\" on one line", name_));
    ++at_;
    while (!line_ends_here() && here() != quote) {
      if (quote == '"' && here() == '\\') {
        if (Status read = escape(out); !read) return read;
        continue;
      }
      std::uint32_t code = 0;
      const std::size_t length = decode_utf8(text_, at_, code);
      if (length == 0) return wrong("the text is not UTF-8; save the file as UTF-8");
      if ((code < 0x20 && code != '\t') || code == 0x7F)
        return wrong(
            fmt::format("there is a control character in the text of {}; leave it out, or write it as \\u{:04X} "
                        "in double quotes",
                        name_, code));
      out += text_.substr(at_, length);
      at_ += length;
    }
    if (line_ends_here())
      return wrong(fmt::format("the text of {} is not closed; end it with {} on the same line", name_, quote));
    ++at_;
    return Ok{};
  }

  Status escape(std::string& out) {
    static constexpr std::array<std::pair<char, char>, 7> kPlain = {
        {{'b', '\b'}, {'t', '\t'}, {'n', '\n'}, {'f', '\f'}, {'r', '\r'}, {'"', '"'}, {'\\', '\\'}}};
    const char letter = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    for (const auto& [name, meant] : kPlain) {
      if (letter != name) continue;
      out += meant;
      at_ += 2;
      return Ok{};
    }
    const std::size_t digits = letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    const std::string_view hex = text_.substr(std::min(at_ + 2, text_.size()), digits);
    std::uint32_t code = 0;
    const auto [end, failed] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    const bool whole = digits > 0 && failed == std::errc() && end == hex.data() + digits;
    if (!whole || code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
      return wrong(
          fmt::format("\"{}\" is no escape; write \\\\ for a backslash, or text in single quotes, which has no "
                      "escapes",
                      rest_of_line().substr(0, 2 + digits)));
    append_utf8(out, code);
    at_ += 2 + digits;
    return Ok{};
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::string name_;  // of the setting under way
  std::vector<Setting> settings_;
};

}  // namespace

Result<std::vector<Setting>> parse_settings(std::string_view text, const std::string& file) {
  return Reader(text, file).read();
}

const char* kind_of(const SettingValue& value) {
  constexpr std::array<const char*, 5> kKinds = {"text", "a whole number", "a number", "true or false",
                                                 "a list of texts"};
  return kKinds.at(value.index());
}

}  // namespace kagent
