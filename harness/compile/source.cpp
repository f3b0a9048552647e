#include "harness/compile/source.h"

#include <algorithm>
#include <regex>
#include <sstream>

namespace kagent::compile {
namespace {

// Headers of NVIDIA's that are worth precompiling, in the order in which they are always put.
const std::vector<std::string>& canonical_order() {
  static const std::vector<std::string> kOrder = {"cuda_fp16.h",     "cuda_bf16.h",          "cuda_fp8.h",    "mma.h",
                                                  "cuda_pipeline.h", "cooperative_groups.h", "cuda_runtime.h"};
  return kOrder;
}

// The prefix is compiled outside the seal: only NVIDIA's own headers may stand in it. No component can be "..".
bool hoistable(const std::string& header) {
  static const std::regex kOwn("(?:cub|cuda|cooperative_groups)(?:/[A-Za-z0-9_]+(?:\\.[a-z]+)?)+");
  const auto& order = canonical_order();
  return header.size() < 200 &&
         (std::find(order.begin(), order.end(), header) != order.end() || std::regex_match(header, kOwn));
}

std::size_t rank(const std::string& header) {
  const auto& order = canonical_order();
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), header) - order.begin());
}

constexpr std::size_t kMostHoisted = 32;  // later ones stay where they are

// The line without comments that begin and end in it, trimmed; `in_comment` is carried from line to line.
std::string code_of(const std::string& line, bool& in_comment) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (in_comment) {
      if (line.compare(i, 2, "*/") == 0) {
        in_comment = false;
        ++i;
      }
    } else if (line.compare(i, 2, "/*") == 0) {
      in_comment = true;
      ++i;
    } else if (line.compare(i, 2, "//") == 0) {
      break;
    } else {
      out += line[i];
    }
  }
  const std::size_t begin = out.find_first_not_of(" \t");
  const std::size_t end = out.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : out.substr(begin, end - begin + 1);
}

std::string clean(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 32) out += c;
  }
  return out;
}

}  // namespace

std::string prefix_of(const std::vector<std::string>& headers) {
  std::string text;
  for (const std::string& header : headers) text += "#include <" + header + ">\n";
  return text + "#include \"kagent_prelude.h\"\n";
}

Source prepare_source(const std::string& answer) {
  static const std::regex kInclude("#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
  static const std::regex kForbidden("\\b(__CUDACC_RTC__|__DATE__|__TIME__|__TIMESTAMP__|__INCLUDE_LEVEL__)\\b");
  static const std::regex kLaunch("<<<");
  Source source;
  if (answer.size() > kMaxSourceBytes) {
    source.error = SourceError{1, "the CUDA block is larger than 1 MiB"};
    return source;
  }
  std::istringstream lines(clean(answer));
  std::string line;
  std::string body;
  bool leading = true;
  bool in_comment = false;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string code = line.size() < 4000 ? code_of(line, in_comment) : line;
    std::smatch match;
    if (line.size() < 4000 && std::regex_search(code, match, kForbidden)) {
      source.error =
          SourceError{number, match[1].str() + " is not allowed: the program must be the same wherever it is compiled"};
      return source;
    }
    if (line.size() < 4000 && std::regex_search(code, kLaunch)) {
      source.error = SourceError{
          number,
          "<<<...>>> launches do not exist here: this block is device code, launch by kg.launch in the python block"};
      return source;
    }
    if (leading && line.size() < 4000 && source.headers.size() < kMostHoisted &&
        std::regex_match(code, match, kInclude) && hoistable(match[1].str())) {
      if (std::find(source.headers.begin(), source.headers.end(), match[1].str()) == source.headers.end())
        source.headers.push_back(match[1].str());
      body += "// " + code + "\n";
      continue;
    }
    if (!code.empty() && !std::regex_match(code, match, kInclude) && code != "#pragma once") leading = false;
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
