#include "agent/audit/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <kainjow/mustache.hpp>

#include "agent/audit/blank.h"
#include "agent/base/printable.h"

namespace kagent::audit {
namespace {

constexpr std::string_view kPrefixEnd = "#line 1 \"answer.cu\"\n";  // harness/compile/source.cpp writes it

// Printable ASCII: what is left of code after blanking needs no more, and invisible characters can carry a message.
std::string ascii_lines(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c == '\t') c = ' ';
    if (c != '\n' && (c < ' ' || c > '~')) c = '?';
  }
  return out;
}

std::string without_trailing_blanks(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out.erase(out.find_last_not_of(' ') + 1);
    out += c;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

// One of the three texts, fenced; what was cut off is said after the fence.
std::string shown(std::string_view tag, std::string text, std::size_t most, bool& whole) {
  if (text.size() <= most) return fenced(tag, text);
  whole = false;
  const std::size_t line_end = text.rfind('\n', most);
  const std::size_t keep = line_end == std::string::npos ? most : line_end + 1;
  const std::size_t left_out = text.size() - keep;
  text.resize(keep);
  return fenced(tag, text) + fmt::format("(cut here: {} more bytes are not shown)\n", left_out);
}

}  // namespace

std::string_view without_prefix(std::string_view preprocessed) {
  const std::size_t at = preprocessed.find(kPrefixEnd);
  const bool begins_line = at == 0 || (at != std::string_view::npos && preprocessed[at - 1] == '\n');
  return begins_line ? preprocessed.substr(at + kPrefixEnd.size()) : preprocessed;
}

std::string fenced(std::string_view tag, std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, tag, text, text.empty() || text.back() == '\n' ? "" : "\n", fence);
}

Result<Question> ask_about(const std::string& judge_template, const Evidence& evidence, const std::string& again,
                           const Limits& limits) {
  kainjow::mustache::mustache tmpl(judge_template);
  if (!tmpl.is_valid()) return Error{Code::kParse, "prompts/audit/judge.md: " + tmpl.error_message()};
  tmpl.set_custom_escape([](const std::string& s) { return s; });  // prompts are text, not HTML
  const Blanked cuda = blank(without_prefix(evidence.cuda));
  Question question;
  kainjow::mustache::data data;
  data.set("source", shown("python", printable_lines(evidence.source), limits.source, question.whole));
  data.set("cuda", shown("cuda", without_trailing_blanks(ascii_lines(cuda.text)), limits.cuda, question.whole));
  data.set("plan", shown("text", ascii_lines(evidence.plan), limits.plan, question.whole));
  if (!cuda.unsure.empty()) data.set("unsure", cuda.unsure);
  data.set("cut", !question.whole);
  if (!again.empty()) data.set("again", again);
  question.prompt = tmpl.render(data);
  return question;
}

}  // namespace kagent::audit
