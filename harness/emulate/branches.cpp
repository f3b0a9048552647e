#include "harness/emulate/branches.h"

#include <algorithm>
#include <functional>
#include <random>
#include <sstream>
#include <string_view>
#include <vector>

#include "harness/compile/lexed.h"
#include "harness/compile/scan.h"

namespace kagent::emulate {
namespace {

using compile::Scan;

constexpr const char* kAll = "all";  // the kernel that is always there

std::string_view after_prefix(const compile::Source& source) {
  const std::size_t begin = compile::prefix_of(source.headers).size();
  return std::string_view(source.text).substr(std::min(begin, source.text.size()));
}

// The word after the #; empty: the line is no directive.
std::string_view directive(std::string_view code) {
  Scan scan(code);
  scan.blanks();
  if (!scan.take("#")) return {};
  scan.blanks();
  const std::string_view word = scan.word();
  return word.empty() ? std::string_view("#") : word;
}

enum class Kind { kText, kDirective, kOpens, kNext, kCloses };

Kind kind_of(std::string_view code) {
  const std::string_view word = directive(code);
  if (word.empty()) return Kind::kText;
  if (word == "if" || word == "ifdef" || word == "ifndef") return Kind::kOpens;
  if (word == "elif" || word == "elifdef" || word == "elifndef" || word == "else") return Kind::kNext;
  return word == "endif" ? Kind::kCloses : Kind::kDirective;
}

// Calls for each line of the body: its kind, and its text.
void for_lines(const compile::Source& source, const std::function<void(Kind, const std::string&)>& look) {
  const std::string body = compile::without_comments(std::string(after_prefix(source)));
  std::istringstream lines(body), codes(compile::blanked(body));
  std::string line, code;
  while (std::getline(lines, line) && std::getline(codes, code)) look(kind_of(code), line);
}

}  // namespace

std::optional<Question> question_of(const compile::Source& source) {
  std::random_device random;
  std::string nonce;
  for (int i = 0; i < 4; ++i) nonce += "_" + std::to_string(random());
  const std::string defined = "kagent_branch" + nonce + "_";
  Question question;
  question.mark = "kagent_taken" + nonce + "_";
  std::string text;
  std::size_t branches = 0;
  for_lines(source, [&](Kind kind, const std::string& line) {
    text += (kind == Kind::kText ? "" : line) + "\n";
    if (kind == Kind::kOpens || kind == Kind::kNext) text += "#define " + defined + std::to_string(branches++) + "\n";
  });
  if (branches == 0) return std::nullopt;
  const auto kernel = [&](const std::string& name) {
    return "extern \"C\" __global__ void " + question.mark + name + "() {}\n";
  };
  text += kernel(kAll);
  for (std::size_t i = 0; i < branches; ++i) {
    const std::string name = std::to_string(i);
    text += "#ifdef " + defined + name + "\n" + kernel(name) + "#endif\n";
  }
  question.source.headers = source.headers;
  question.source.text = compile::prefix_of(source.headers) + text;
  return question;
}

std::optional<compile::Source> settled(const compile::Source& source, const std::set<std::string>& kernels,
                                       const std::string& mark) {
  if (kernels.count(mark + kAll) == 0) return std::nullopt;
  compile::Source out;
  out.headers = source.headers;
  out.text = compile::prefix_of(source.headers);
  std::vector<bool> open;  // conditionals, and whether the present branch is taken
  std::size_t branches = 0;
  bool balanced = true;
  for_lines(source, [&](Kind kind, const std::string& line) {
    if (kind == Kind::kOpens) open.push_back(false);
    balanced = balanced && (kind == Kind::kText || kind == Kind::kDirective || !open.empty());
    if (kind == Kind::kCloses && !open.empty()) open.pop_back();
    if ((kind == Kind::kOpens || kind == Kind::kNext) && !open.empty())
      open.back() = kernels.count(mark + std::to_string(branches++)) != 0;
    const bool stays =
        (kind == Kind::kText || kind == Kind::kDirective) && std::find(open.begin(), open.end(), false) == open.end();
    out.text += (stays ? line : "") + "\n";
  });
  return balanced && open.empty() ? std::optional(out) : std::nullopt;
}

}  // namespace kagent::emulate
