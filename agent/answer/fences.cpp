#include "agent/answer/fences.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace kagent::answer {
namespace {

constexpr int kMaxNesting = 4;

struct Fence {
  char mark = '`';
  std::size_t length = 0;
  std::size_t indent = 0;
  std::string info;
};

std::string_view without_newline(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

// The fence that `line` is, if it is one.
std::optional<Fence> fence_of(std::string_view line) {
  line = without_newline(line);
  Fence fence;
  fence.indent = line.find_first_not_of(" \t>");
  if (fence.indent == std::string_view::npos) return std::nullopt;
  line.remove_prefix(fence.indent);
  fence.mark = line.front();
  if (fence.mark != '`' && fence.mark != '~') return std::nullopt;
  fence.length = std::min(line.find_first_not_of(fence.mark), line.size());
  if (fence.length < 3) return std::nullopt;
  std::string_view info = line.substr(fence.length);
  if (fence.mark == '`' && info.find('`') != std::string_view::npos) return std::nullopt;
  const std::size_t begin = std::min(info.find_first_not_of(" \t{."), info.size());
  info.remove_prefix(begin);
  info = info.substr(0, info.find_first_of(" \t{}:,"));
  fence.info.assign(info);
  std::transform(fence.info.begin(), fence.info.end(), fence.info.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : static_cast<char>(c);
  });
  return fence;
}

bool closes(const Fence& opened, std::string_view line) {
  const std::optional<Fence> fence = fence_of(line);
  return fence && fence->info.empty() && fence->mark == opened.mark && fence->length >= opened.length &&
         fence->indent <= opened.indent + 3;
}

// The fence that begins another block although `opened` was never closed.
std::optional<Fence> next_block(const Fence& opened, std::string_view line) {
  static constexpr std::string_view kLanguages[] = {"cuda", "cu", "c++", "cpp", "c", "python", "python3", "py"};
  std::optional<Fence> fence = fence_of(line);
  const bool begins = fence && fence->mark == opened.mark && fence->length >= opened.length &&
                      fence->indent <= opened.indent &&
                      std::find(std::begin(kLanguages), std::end(kLanguages), fence->info) != std::end(kLanguages);
  return begins ? fence : std::nullopt;
}

std::string_view without_indent(std::string_view line, std::size_t indent) {
  std::size_t n = 0;
  while (n < indent && n < line.size() && (line[n] == ' ' || line[n] == '\t' || line[n] == '>')) ++n;
  return line.substr(n);
}

// Length of the valid UTF-8 sequence at the front, 0 if there is none (RFC 3629).
std::size_t utf8_length(std::string_view s) {
  const auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0U; };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned a = byte(0);
  if (a < 0x80) return 1;
  if (a >= 0xC2 && a <= 0xDF) return tail(1) ? 2 : 0;
  if (a >= 0xE0 && a <= 0xEF) {
    const bool good = tail(1) && tail(2) && !(a == 0xE0 && byte(1) < 0xA0) && !(a == 0xED && byte(1) > 0x9F);
    return good ? 3 : 0;
  }
  if (a >= 0xF0 && a <= 0xF4) {
    const bool good = tail(1) && tail(2) && tail(3) && !(a == 0xF0 && byte(1) < 0x90) && !(a == 0xF4 && byte(1) > 0x8F);
    return good ? 4 : 0;
  }
  return 0;
}

bool is_control(char c) { return (c >= 0 && c < ' ' && c != '\t' && c != '\f') || c == '\x7f'; }

// Line ends become \n; control characters and bytes that are no UTF-8 become U+FFFD.
void append_clean(Fenced& block, std::string_view line) {
  line = without_newline(line);
  while (!line.empty()) {
    const std::size_t n = is_control(line.front()) ? 0 : utf8_length(line);
    if (n == 0) {
      block.text += "\xEF\xBF\xBD";
      block.replaced += 1;
    } else {
      block.text.append(line.substr(0, n));
    }
    line.remove_prefix(std::max<std::size_t>(n, 1));
  }
  block.text += '\n';
}

std::vector<Fenced> scan(std::string_view raw, int first_line, int depth) {
  std::vector<Fenced> blocks;
  std::optional<Fence> open;
  std::size_t open_begin = 0;
  int line_number = first_line - 1;
  const auto begin = [&](const Fence& fence, std::size_t body) {
    open = fence;
    open_begin = body;
    blocks.push_back({fence.info, "", line_number + 1, 0, false});
  };
  const auto finish = [&](std::string_view body, bool closed) {
    if (depth < kMaxNesting && (open->info == "markdown" || open->info == "md")) {
      std::vector<Fenced> inner = scan(body, blocks.back().line, depth + 1);
      blocks.pop_back();
      blocks.insert(blocks.end(), inner.begin(), inner.end());
    } else {
      blocks.back().closed = closed;
    }
    open.reset();
  };
  std::size_t at = 0;
  while (at < raw.size()) {
    const std::size_t end = std::min(raw.find('\n', at), raw.size() - 1) + 1;
    const std::string_view line = raw.substr(at, end - at);
    ++line_number;
    if (open && closes(*open, line)) {
      finish(raw.substr(open_begin, at - open_begin), true);
    } else if (const auto next = open ? next_block(*open, line) : fence_of(line)) {
      if (open) finish(raw.substr(open_begin, at - open_begin), true);
      begin(*next, end);
    } else if (open) {
      append_clean(blocks.back(), without_indent(line, open->indent));
    }
    at = end;
  }
  if (open) finish(raw.substr(std::min(open_begin, raw.size())), false);
  return blocks;
}

}  // namespace

std::vector<Fenced> fenced_blocks(std::string_view raw, int first_line) { return scan(raw, first_line, 0); }

}  // namespace kagent::answer
