#include "agent/task/blind.h"

#include <cctype>

namespace kagent {
namespace {

// Follows Python's tokens just far enough to know whether a new line starts a new statement.
class LineScanner {
 public:
  [[nodiscard]] bool inside_statement() const { return quote_ != '\0' || depth_ > 0 || continued_; }

  void read(std::string_view line) {
    continued_ = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (quote_ != '\0') {
        i = within_string(line, i);
      } else if (line[i] == '#') {
        break;
      } else {
        i = within_code(line, i);
      }
    }
    if (quote_ != '\0' && !triple_ && !continued_) quote_ = '\0';  // an unfinished string ends with its line
  }

 private:
  std::size_t within_string(std::string_view line, std::size_t i) {
    if (line[i] == '\\') {
      continued_ = !triple_ && i + 1 == line.size();
      return i + 1;
    }
    if (line[i] != quote_) return i;
    if (!triple_) {
      quote_ = '\0';
    } else if (line.substr(i, 3) == std::string(3, quote_)) {
      quote_ = '\0';
      return i + 2;
    }
    return i;
  }

  std::size_t within_code(std::string_view line, std::size_t i) {
    const char c = line[i];
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    continued_ = c == '\\' && i + 1 == line.size();
    if (c != '"' && c != '\'') return i;
    quote_ = c;
    triple_ = line.substr(i, 3) == std::string(3, c);
    return triple_ ? i + 2 : i;
  }

  char quote_ = '\0';  // the open string's quote
  bool triple_ = false;
  int depth_ = 0;
  bool continued_ = false;
};

std::string_view word_at(std::string_view line, std::size_t begin) {
  while (begin < line.size() && line[begin] == ' ') ++begin;
  std::size_t end = begin;
  while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_')) ++end;
  return line.substr(begin, end - begin);
}

// Decides statement by statement what stays.
class Filter {
 public:
  std::string take() && {
    while (!out_.empty() && out_.back() == '\n') out_.pop_back();
    return out_.empty() ? out_ : out_ + "\n";
  }

  void statement(std::string_view line) {
    const std::string_view keyword = word_at(line, 0);
    if (line.front() == '@') {  // waits for what it decorates
      keeping_ = false;
      decorators_.append(line).append("\n");
      in_decorator_ = true;
      return;
    }
    keeping_ = wanted(line, keyword);
    if (keeping_) out_ += decorators_;
    decorators_.clear();
    in_decorator_ = false;
    inner(line);
  }

  void inner(std::string_view line) {
    if (in_decorator_) {
      decorators_.append(line).append("\n");
    } else if (keeping_) {
      out_.append(line).append("\n");
    }
  }

 private:
  bool wanted(std::string_view line, std::string_view keyword) {
    if (keyword == "class" || keyword == "import" || keyword == "from") return true;
    if (keyword != "def") return false;
    const std::string_view name = word_at(line, keyword.size());
    past_model_ |= name == "get_inputs" || name == "get_init_inputs";
    return !past_model_;
  }

  std::string out_;
  std::string decorators_;
  bool keeping_ = false;
  bool in_decorator_ = false;
  bool past_model_ = false;
};

}  // namespace

std::string blind_view(std::string_view source) {
  LineScanner scanner;
  Filter filter;
  while (!source.empty()) {
    const std::size_t end = source.find('\n');
    std::string_view line = source.substr(0, end);
    source = end == std::string_view::npos ? std::string_view() : source.substr(end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);

    const bool starts = !scanner.inside_statement() && !line.empty() && line.front() != ' ' && line.front() != '\t';
    if (starts && line.front() == '#') continue;
    if (starts) {
      filter.statement(line);
    } else {
      filter.inner(line);
    }
    scanner.read(line);
  }
  return std::move(filter).take();
}

}  // namespace kagent
