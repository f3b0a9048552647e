// Long texts of a sample, folded away.

#include <fmt/format.h>

#include <algorithm>

#include "agent/report/parts.h"

namespace kagent::report {
namespace {

Html notes_of(const Stored& stored) {
  Html out;
  if (!stored.problem.empty())
    out << "<p class=problem>This text is missing or damaged: " << text(stored.problem) << "</p>";
  if (stored.cut())
    out << "<p class=note>Cut here: the first " << text(fmt::format("{} of {}", stored.text.size(), stored.bytes))
        << " bytes are shown. <code>kagent show</code> prints all of it.</p>";
  return out;
}

// Coloured code may be larger than its text, but not without bound: a text of single digits would be.
constexpr std::size_t kMostGrowth = 4;

Html coloured(std::string_view source, Language language) {
  Html out;
  for (const Token& token : tokens_of(source, language)) {
    switch (token.kind) {
      case TokenKind::kPlain:
        out << text(token.text);
        continue;
      case TokenKind::kComment:
        out << "<span class=c>";
        break;
      case TokenKind::kString:
        out << "<span class=s>";
        break;
      case TokenKind::kNumber:
        out << "<span class=n>";
        break;
      case TokenKind::kKeyword:
        out << "<span class=k>";
        break;
    }
    out << text(token.text) << "</span>";
    if (out.bytes().size() > kMostGrowth * source.size() + 4096) return text(source);
  }
  return out;
}

constexpr int kWorthLeavingOut = 8;  // lines

std::string_view line_at(std::string_view all, std::size_t at) {
  return at < all.size()
             ? all.substr(at, all.find('\n', at) - at + (all.find('\n', at) == std::string_view::npos ? 0 : 1))
             : std::string_view();
}

// Replaces each block of an earlier sample that stands in the text word for word by a pointer to it.
Html without_blocks(std::string_view rest, const TaskPage& task, std::size_t before) {
  Html out;
  while (!rest.empty()) {
    std::size_t at = std::string_view::npos;
    std::size_t length = 0;
    std::size_t whose = 0;
    bool cuda = false;
    for (std::size_t i = 0; i < before && i < task.samples.size(); ++i) {
      for (const Stored* block : {&task.samples[i].cuda, &task.samples[i].python}) {
        if (block->text.size() < 200 || block->cut()) continue;
        const std::size_t found = rest.find(block->text);
        if (found >= at) continue;
        at = found;
        length = block->text.size();
        whose = i;
        cuda = block == &task.samples[i].cuda;
      }
    }
    out << text(rest.substr(0, at));
    if (at == std::string_view::npos) break;
    out << "<span class=gap>[the " << text(cuda ? "CUDA block" : "host program") << " of sample "
        << static_cast<int>(whose + 1) << ", word for word]\n</span>";
    rest.remove_prefix(at + length);
  }
  return out;
}

}  // namespace

std::string size_words(const Stored& stored) {
  if (!stored.problem.empty()) return "missing";
  const auto lines = std::count(stored.text.begin(), stored.text.end(), '\n');
  return fmt::format("{} {}, {:.1f} kB{}", lines, lines == 1 ? "line" : "lines",
                     static_cast<double>(stored.bytes) / 1e3, stored.cut() ? ", cut" : "");
}

Html details(std::string_view summary, std::string_view aside, const Html& what) {
  Html out;
  out << "<details><summary>" << text(summary) << " <span class=aside>" << text(aside) << "</span></summary>" << what
      << "</details>\n";
  return out;
}

Html code(const Stored& stored, Language language) {
  Html out = notes_of(stored);
  if (stored.problem.empty()) out << "<pre tabindex=0><code>" << coloured(stored.text, language) << "</code></pre>";
  return out;
}

Html plain(const Stored& stored) {
  Html out = notes_of(stored);
  if (stored.problem.empty()) out << "<pre tabindex=0>" << text(stored.text) << "</pre>";
  return out;
}

Html prompt_after(const Stored& prompt, const TaskPage& task, std::size_t sample) {
  Html out = notes_of(prompt);
  if (!prompt.problem.empty()) return out;
  // The first prompt is whole on the page; of a later one, lines that stand at the same place there are left out.
  const std::string_view all = prompt.text;
  const std::string_view first = sample > 0 ? std::string_view(task.samples.front().prompt.text) : std::string_view();
  out << "<pre tabindex=0>";
  std::size_t shown = 0;  // up to here all is written
  std::size_t other = 0;
  for (std::size_t at = 0; at < all.size() && other < first.size();) {
    int same = 0;
    const std::size_t begin = at;
    for (; at < all.size() && line_at(all, at) == line_at(first, other); ++same) {
      const std::size_t length = line_at(all, at).size();
      at += length;
      other += length;
    }
    if (same >= kWorthLeavingOut) {
      out << without_blocks(all.substr(shown, begin - shown), task, sample);
      out << "<span class=gap>[" << same << " lines as in the prompt of sample 1]\n</span>";
      shown = at;
    }
    at += line_at(all, at).size();
    other += line_at(first, other).size();
  }
  out << without_blocks(all.substr(shown), task, sample) << "</pre>";
  return out;
}

}  // namespace kagent::report
