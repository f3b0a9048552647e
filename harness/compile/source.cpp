#include "harness/compile/source.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

#include "harness/compile/lexed.h"
#include "harness/compile/scan.h"

namespace kagent::compile {
namespace {

// Headers of NVIDIA's that are worth precompiling, in the order in which they are always put.
const std::vector<std::string>& canonical_order() {
  static const std::vector<std::string> kOrder = {"cuda_fp16.h",     "cuda_bf16.h",          "cuda_fp8.h",    "mma.h",
                                                  "cuda_pipeline.h", "cooperative_groups.h", "cuda_runtime.h"};
  return kOrder;
}

// "cub/block/block_reduce.cuh": no component can be "..".
bool is_path_below(std::string_view header, std::string_view folder) {
  Scan scan(header);
  if (!scan.take(folder)) return false;
  bool any = false;
  while (scan.take("/")) {
    any = true;
    if (scan.word().empty()) return false;
    if (scan.take(".") && scan.run([](char c) { return c >= 'a' && c <= 'z'; }).empty()) return false;
  }
  return any && scan.done();
}

// The prefix is compiled outside the seal: only NVIDIA's own headers may stand in it.
bool hoistable(const std::string& header) {
  const auto& order = canonical_order();
  if (header.size() >= 200) return false;
  return std::find(order.begin(), order.end(), header) != order.end() || is_path_below(header, "cub") ||
         is_path_below(header, "cuda") || is_path_below(header, "cooperative_groups");
}

std::size_t rank(const std::string& header) {
  const auto& order = canonical_order();
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), header) - order.begin());
}

constexpr std::size_t kMostHoisted = 32;  // later ones stay where they are

// The line without comments that begin and end in it, trimmed; `in_comment` is carried from line to line. What looks
// like a comment inside a string is none.
std::string code_of(const std::string& line, bool& in_comment) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (in_comment) {
      if (line.compare(i, 2, "*/") == 0) {
        in_comment = false;
        ++i;
      }
    } else if (quoted) {
      if (line[i] == '\\' && i + 1 < line.size()) out += line[i++];
      if (line[i] == '"') quoted = false;
      out += line[i];
    } else if (line.compare(i, 2, "/*") == 0) {
      in_comment = true;
      ++i;
    } else if (line.compare(i, 2, "//") == 0) {
      break;
    } else {
      quoted = line[i] == '"' && (i == 0 || line[i - 1] != '\'');
      out += line[i];
    }
  }
  const std::size_t begin = out.find_first_not_of(" \t");
  const std::size_t end = out.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : out.substr(begin, end - begin + 1);
}

// `#include <cuda_fp16.h>`, quoted or not, and nothing else on the line.
std::optional<std::string> included(const std::string& code) {
  Scan scan(code);
  if (!scan.take("#")) return std::nullopt;
  scan.blanks();
  if (!scan.take("include")) return std::nullopt;
  scan.blanks();
  if (!scan.take("<") && !scan.take("\"")) return std::nullopt;
  const std::string_view header = scan.run([](char c) { return c != '>' && c != '"'; });
  if (header.empty() || !(scan.take(">") || scan.take("\"")) || !scan.done()) return std::nullopt;
  return std::string(header);
}

// A word that would make the text mean another program elsewhere.
std::optional<std::string> forbidden_word(const std::string& code) {
  constexpr std::string_view kForbidden[] = {"__CUDACC_RTC__", "__DATE__", "__TIME__", "__TIMESTAMP__",
                                             "__INCLUDE_LEVEL__"};
  for (Scan scan(code); !scan.done();) {
    const std::string_view word = scan.word();
    if (std::find(std::begin(kForbidden), std::end(kForbidden), word) != std::end(kForbidden)) return std::string(word);
    scan.run([](char c) { return !is_word(c); });
  }
  return std::nullopt;
}

std::string clean(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 32) out += c;
  }
  return out;
}

// Of the text with its lines joined, so that no splice hides a word; where raw strings may hide where comments begin,
// comments count too.
std::optional<SourceError> forbidden_in(const std::string& joined) {
  std::istringstream lines(joined);
  std::string line;
  const bool all = joined.find("R\"") != std::string::npos;
  bool in_comment = false;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string code = all ? line : code_of(line, in_comment);
    if (const auto word = forbidden_word(code))
      return SourceError{number, *word + " is not allowed: the program must be the same wherever it is compiled"};
    if (code.find("%:") != std::string::npos && code.find('"') == std::string::npos)
      return SourceError{number, "%: is not allowed here: write # (or a blank between % and :)"};
  }
  return std::nullopt;
}

}  // namespace

std::string prefix_of(const std::vector<std::string>& headers) {
  std::string text;
  for (const std::string& header : headers) text += "#include <" + header + ">\n";
  return text + "#include \"kagent_prelude.h\"\n";
}

Source prepare_source(const std::string& answer) {
  Source source;
  if (answer.size() > kMaxSourceBytes) {
    source.error = SourceError{1, "the CUDA block is larger than 1 MiB"};
    return source;
  }
  const std::string text = clean(answer);
  const std::string joined = joined_lines(text);
  if (auto error = forbidden_in(joined)) {
    source.error = std::move(error);
    return source;
  }
  // In a raw string a splice is none.
  std::istringstream lines(has_raw_string(blanked(text)) ? text : joined);
  std::string line;
  std::string body;
  bool leading = true;
  bool in_comment = false;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string code = code_of(line, in_comment);
    if (code.find("<<<") != std::string::npos) {
      source.error = SourceError{
          number,
          "<<<...>>> launches do not exist here: this block is device code, launch by kg.launch in the python block"};
      return source;
    }
    const std::optional<std::string> header = included(code);
    if (leading && header && source.headers.size() < kMostHoisted && hoistable(*header)) {
      if (std::find(source.headers.begin(), source.headers.end(), *header) == source.headers.end())
        source.headers.push_back(*header);
      body += "// " + code + "\n";
      continue;
    }
    if (!code.empty() && !header && code != "#pragma once") leading = false;
    // #line and GNU's # 12 "file" would move the answer's own line numbers.
    const bool moves =
        !code.empty() && code[0] == '#' &&
        (code.find("line") != std::string::npos || code.find_first_of("0123456789") == code.find_first_not_of("# \t"));
    body += (moves ? "// " + code : line) + "\n";
  }
  std::sort(source.headers.begin(), source.headers.end(),
            [](const std::string& a, const std::string& b) { return rank(a) != rank(b) ? rank(a) < rank(b) : a < b; });
  source.text = prefix_of(source.headers) + "#line 1 \"" + kAnswerName + "\"\n" + body;
  return source;
}

}  // namespace kagent::compile
