#include "harness/emulate/translate.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "harness/compile/lexed.h"
#include "harness/compile/scan.h"
#include "harness/emulate/ptx.h"

namespace kagent::emulate {
namespace {

using compile::blanked;
using compile::is_blank;
using compile::is_word;
using compile::Scan;

std::size_t newlines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

int line_at(const std::string& text, std::size_t at) {
  return static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1;
}

// Does the brace at `at` open a namespace or an extern "C" block (whose name is blanked: " ")? The text inside is at
// file scope still.
bool is_transparent(std::string_view code, std::size_t at) {
  const auto back = [&](auto wanted) {
    const std::size_t end = at;
    while (at > 0 && wanted(code[at - 1])) --at;
    return code.substr(at, end - at);
  };
  const auto name = [](char c) { return is_word(c) || c == ':'; };
  back(is_blank);
  if (at > 0 && code[at - 1] == '"') {
    --at;
    back(is_blank);
    if (at == 0 || code[--at] != '"') return false;
    back(is_blank);
    return back(is_word) == "extern";
  }
  if (back(name) == "namespace") return true;
  back(is_blank);
  return back(is_word) == "namespace";
}

struct DynamicShared {
  std::string type, name;
  std::size_t end = 0;  // one past the semicolon
};

// `extern __shared__ __align__(16) float x[];` whose first word begins at `at`.
std::optional<DynamicShared> declared_at(std::string_view code, std::size_t at) {
  constexpr std::size_t kMostType = 500;
  Scan scan(code, at);
  const auto in_brackets = [&] {  // ( 16 )
    scan.blanks();
    if (!scan.take("(")) return false;
    scan.blanks();
    scan.number();
    scan.blanks();
    return scan.take(")");
  };
  if (scan.word() != "extern") return std::nullopt;
  bool shared = false;
  std::size_t type = 0;
  for (;;) {
    scan.blanks();
    type = scan.at();
    const std::string_view word = scan.word();
    if (word == "__shared__")
      shared = true;
    else if ((word == "__align__" || word == "alignas") && !in_brackets())
      return std::nullopt;
    else if (word != "__align__" && word != "alignas" && word != "volatile")
      break;
  }
  if (!shared) return std::nullopt;
  scan = Scan(code, type);
  std::size_t name = type, type_end = type;
  std::string_view last;
  while (scan.at() - type < kMostType) {
    scan.run([](char c) { return is_blank(c) || c == ':' || c == '<' || c == '>' || c == ','; });
    const std::size_t begin = scan.at();
    const std::string_view word = scan.word();
    if (word.empty()) break;
    if (last != "__align__") type_end = begin;
    last = word;
    name = begin;
    if (word == "__align__" && !in_brackets()) return std::nullopt;
  }
  scan.blanks();
  if (!scan.take("[")) return std::nullopt;
  scan.blanks();
  if (!scan.take("]")) return std::nullopt;
  scan.blanks();
  if (!scan.take(";")) return std::nullopt;
  while (type_end > type && is_blank(code[type_end - 1])) --type_end;
  if (type_end == type || last == "__align__" || compile::is_digit(code[type])) return std::nullopt;
  return DynamicShared{std::string(code.substr(type, type_end - type)), std::string(code.substr(name, last.size())),
                       scan.at()};
}

// `extern __shared__ float x[];` becomes a pointer, at file scope a macro.
std::string dynamic_shared(const std::string& body) {
  const std::string code = blanked(body);
  std::string out;
  std::vector<bool> open;  // braces; true: those of a function or a class
  std::size_t inside = 0;  // how many of them are
  int line = 1;
  for (std::size_t at = 0; at < body.size();) {
    const bool begins = at == 0 || !is_word(code[at - 1]);
    const auto found = begins && code[at] == 'e' ? declared_at(code, at) : std::nullopt;
    if (!found) {
      if (code[at] == '{') {
        open.push_back(!is_transparent(code, at));
        inside += open.back() ? 1 : 0;
      } else if (code[at] == '}' && !open.empty()) {
        inside -= open.back() ? 1 : 0;
        open.pop_back();
      }
      line += code[at] == '\n' ? 1 : 0;
      out += body[at++];
      continue;
    }
    const std::size_t lines = newlines(std::string_view(code).substr(at, found->end - at));
    line += static_cast<int>(lines);
    const std::string pointer = "static_cast<" + found->type + "*>(kagent::emulate::dynamic_shared())";
    if (inside == 0) {
      out += "\n#define " + found->name + " (" + pointer + ")\n#line " + std::to_string(line) + " \"" +
             compile::kAnswerName + "\"\n";
    } else {
      out += found->type + "* " + found->name + " = " + pointer + ";" + std::string(lines, '\n');
    }
    at = found->end;
  }
  return out;
}

// One past the `)` of the asm statement whose first word begins at `at`, the end of the text if there is none.
std::optional<std::size_t> end_of_asm(std::string_view code, std::size_t at) {
  Scan scan(code, at);
  const std::string_view word = scan.word();
  if (word != "asm" && word != "__asm__" && word != "__asm") return std::nullopt;
  scan.blanks();
  if (!scan.take("volatile")) scan.take("__volatile__");
  scan.blanks();
  if (!scan.take("(")) return std::nullopt;
  std::size_t end = scan.at();
  for (int depth = 1; depth > 0 && end < code.size(); ++end) depth += code[end] == '(' ? 1 : code[end] == ')' ? -1 : 0;
  return end;
}

// Replaces asm statements by calls; lines stay.
std::optional<NotEmulable> without_asm(std::string& body) {
  constexpr std::size_t kMostOut = 8 * compile::kMaxSourceBytes;  // operands may stand in many places of a statement
  const std::string code = blanked(body);
  std::string out;
  for (std::size_t at = 0; at < body.size();) {
    const bool begins = at == 0 || !is_word(code[at - 1]);
    const auto end = begins && (code[at] == 'a' || code[at] == '_') ? end_of_asm(code, at) : std::nullopt;
    if (!end) {
      out += body[at++];
      continue;
    }
    const std::string statement = body.substr(at, *end - at);
    const auto call = translate_asm(statement);
    if (const auto* unknown = std::get_if<UnknownPtx>(&call))
      return NotEmulable{"inline PTX (" + unknown->instruction.substr(0, 80) + ")", line_at(code, at)};
    std::string with = std::get<std::string>(call);
    std::replace(with.begin(), with.end(), '\n', ' ');  // an operand may stand in it twice
    out += with + std::string(newlines(statement), '\n');
    if (out.size() > kMostOut) return NotEmulable{"inline PTX (too much of it)", line_at(code, at)};
    at = *end;
  }
  body = std::move(out);
  return std::nullopt;
}

struct Found {
  std::string what;
  std::size_t at = 0;
};

// `#pragma GCC`, `[[gnu::`, ... at exactly this place.
std::optional<std::string> own_word_at(std::string_view code, std::size_t at) {
  Scan scan(code, at);
  for (const std::string_view word : {"__attribute__", "__attribute", "__float128", "__int128"}) {
    if (scan.take(word)) return std::string(word);
  }
  if (scan.take("__builtin_")) return "__builtin_" + std::string(scan.word().substr(0, 60));
  if (scan.take("[[")) {
    scan.blanks();
    if (!scan.take("gnu")) return std::nullopt;
    scan.blanks();
    return scan.take("::") ? std::optional<std::string>("[[gnu::") : std::nullopt;
  }
  if (!scan.take("#")) return std::nullopt;
  scan.blanks();
  if (!scan.take("pragma")) return std::nullopt;
  scan.blanks();
  for (const std::string_view word : {"GCC", "GNU", "weak", "redefine_extname", "message"}) {
    if (scan.take(word)) return "#pragma " + std::string(word);
  }
  return std::nullopt;
}

// The first of the compiler's own words, which would let the text do more than CUDA can.
std::optional<Found> own_word(std::string_view code) {
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (code[at] != '_' && code[at] != '[' && code[at] != '#') continue;
    if (const auto word = own_word_at(code, at)) return Found{*word, at};
  }
  return std::nullopt;
}

// [ and # in other letters.
std::optional<Found> digraph(std::string_view code) {
  for (std::size_t at = 0; at + 1 < code.size(); ++at) {
    const std::string_view two = code.substr(at, 2);
    const std::string_view four = code.substr(at, 4);  // a<::b> is a template of ::b
    const bool scope = four.starts_with("<::") && four != "<:::" && four != "<::>";
    if (two == "%:" || two == "<%" || (two == "<:" && !scope)) return Found{"digraphs", at};
  }
  return std::nullopt;
}

// asm, where every statement of it has been replaced.
std::optional<Found> left_asm(std::string_view code) {
  for (Scan scan(code); !scan.done();) {
    const std::size_t at = scan.at();
    const std::string_view word = scan.word();
    if (word == "asm" || word == "__asm__" || word == "__asm") return Found{"asm by a macro", at};
    scan.run([](char c) { return !is_word(c); });
  }
  return std::nullopt;
}

// Kernels whose threads never wait for each other need no fibers.
bool may_wait(std::string_view code) {
  constexpr std::string_view kWaits[] = {
      "sync", "asm",    "kagent::ptx", "cooperative_groups", "barrier", "wmma",        "shfl",     "vote",
      "cub",  "atomic", "mma_",        "nanosleep",          "warp_",   "threadfence", "cp_async", "while"};
  return std::any_of(std::begin(kWaits), std::end(kWaits),
                     [&](std::string_view word) { return code.find(word) != std::string_view::npos; });
}

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

}  // namespace

std::variant<std::string, NotEmulable> translate(const compile::Source& source, const std::vector<std::string>& names) {
  const std::size_t begin = compile::prefix_of(source.headers).size();
  std::string body = source.text.substr(std::min(begin, source.text.size()));
  const std::string start = std::string("#line 1 \"") + compile::kAnswerName + "\"\n";
  if (body.starts_with(start)) body.erase(0, start.size());
  if (compile::has_raw_string(blanked(body))) return NotEmulable{"raw strings", 0};
  if (auto no = without_asm(body)) return *no;
  const std::string code = blanked(body);
  if (const auto found = own_word(code))
    return NotEmulable{"the compiler's own words (" + found->what + ")", line_at(code, found->at)};
  if (const auto found = digraph(code)) return NotEmulable{found->what, line_at(code, found->at)};

  std::string out = "#include <kagent_emulate.h>\n";
  for (const std::string& header : source.headers) out += "#include <" + header + ">\n";
  if (code.find("kagent::ptx::") != std::string::npos) out += "#include <kagent_emulate/ptx.h>\n";
  out += start + dynamic_shared(body) + "\n";
  out += "#line 1 \"kernels\"\nconst kagent::emulate::Kernel kagent_kernels[] = {";
  for (const std::string& name : names) {
    out += "\n  {" + quoted(name) + ", &kagent::emulate::Caller<&" + name + ">::body, kagent::emulate::Caller<&" +
           name + ">::kParameters},";
  }
  if (names.empty()) out += "{\"\", nullptr, 0}";
  out += "\n};\nconst unsigned kagent_kernel_count = " + std::to_string(names.size()) +
         ";\nconst bool kagent_fibers = " + (may_wait(code) ? "true" : "false") + ";\n";
  return out;
}

std::string own_macros_only(const std::string& translated) {
  const std::string code = blanked(translated);
  std::string out;
  for (std::size_t begin = 0; begin < translated.size();) {
    const std::size_t end = std::min(translated.find('\n', begin), translated.size());
    Scan scan(std::string_view(code).substr(begin, end - begin));
    scan.blanks();
    bool includes = scan.take("#");
    scan.blanks();
    includes = includes && (scan.take("include") || scan.take("import"));
    if (!includes) out.append(translated, begin, end - begin);
    out += '\n';
    begin = end + 1;
  }
  return out;
}

std::optional<NotEmulable> hidden_word(const std::string& expanded) {
  const std::string code = blanked(expanded);
  auto found = own_word(code);
  if (found) found->what = "the compiler's own words (" + found->what + ")";
  if (!found) found = digraph(code);
  if (!found) found = left_asm(code);
  if (!found) return std::nullopt;
  // The line that the last `# 12 "answer.cu"` before it begins.
  const std::string marker = std::string(" \"") + compile::kAnswerName + "\"";
  int line = 0;
  for (std::size_t begin = 0; begin <= found->at;) {
    const std::size_t end = std::min(expanded.find('\n', begin), expanded.size());
    const std::string_view text = std::string_view(expanded).substr(begin, end - begin);
    Scan scan(text);
    if (scan.take("# ")) {
      const auto number = scan.number();
      line = number && text.substr(scan.at()).starts_with(marker) ? *number : 0;
    } else if (end < found->at && line > 0) {
      ++line;
    }
    begin = end + 1;
  }
  return NotEmulable{found->what, line};
}

namespace {

// The answer's line in front of `error`: `answer.cu:12:5: error: ...`; 0 if this log line has none.
int line_before(std::string_view log, std::size_t error) {
  const std::size_t newline = log.rfind('\n', error);
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const std::string_view file = "answer.cu:";
  const std::size_t at = log.substr(begin, error - begin).find(file);
  return at == std::string_view::npos ? 0 : Scan(log, begin + at + file.size()).number().value_or(0);
}

// "/usr/include/cccl/cuda/atomic" as an author writes it.
std::string as_included(std::string_view path) {
  constexpr std::size_t kMostName = 60;
  for (const std::string_view folder : {"/cccl/", "/include/"}) {
    const std::size_t at = path.rfind(folder);
    if (at != std::string_view::npos) return "<" + std::string(path.substr(at + folder.size(), kMostName)) + ">";
  }
  return "<" + std::string(path.substr(path.rfind('/') + 1, kMostName)) + ">";
}

// The header that the answer itself includes and that led to the line at `error`: the outermost of
// "In file included from A:1,\n from B:2,\n from .../answer.cpp:3:". Empty: there is none between.
std::string outermost_header(std::string_view log, std::size_t error) {
  std::size_t begin = log.rfind('\n', error);
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  std::string outermost, file;
  while (begin > 0) {  // upwards: the last line of the stack, the answer itself, comes first
    const std::size_t end = begin - 1;
    const std::size_t newline = end == 0 ? std::string_view::npos : log.rfind('\n', end - 1);
    begin = newline == std::string_view::npos ? 0 : newline + 1;
    const std::string_view line = log.substr(begin, end - begin);
    const std::size_t from = line.find("from ");
    if (from == std::string_view::npos || !(line.starts_with("In file included from ") || line.starts_with("   ")))
      break;
    file = std::string(line.substr(from + 5, line.find(':', from) - from - 5));
    if (outermost.empty() && file != compile::kAnswerName && !file.ends_with("/answer.cpp")) outermost = file;
    if (line.starts_with("In file")) break;
  }
  return outermost.empty() ? "" : as_included(outermost);
}

// The file that a log's line begins with: "file:1:2: error: ...".
std::string_view file_before(std::string_view log, std::size_t error) {
  const std::size_t newline = log.rfind('\n', error);
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  return log.substr(begin, std::min(log.find(':', begin), error) - begin);
}

}  // namespace

NotEmulable reason_in(const std::string& log) {
  constexpr std::size_t kMost = 300;  // bytes of a reason
  const auto rest_of = [&](std::string_view words,
                           std::string_view ends) -> std::optional<std::pair<std::size_t, std::string>> {
    for (std::size_t at = log.find(words); at != std::string::npos; at = log.find(words, at + 1)) {
      const std::size_t begin = at + words.size();
      const std::size_t size = std::min(log.find_first_of(ends, begin), log.size()) - begin;
      if (size > 0) return std::pair(at, log.substr(begin, std::min(size, kMost)));
    }
    return std::nullopt;
  };
  if (const auto named = rest_of("not emulable: ", "\n\"]")) {
    const std::string header = outermost_header(log, named->first);
    return {header.empty() ? named->second : header + " (" + named->second + ")", line_before(log, named->first)};
  }
  if (const auto missing = rest_of("fatal error: ", "\n:");
      missing && log.compare(missing->first + 13 + missing->second.size(), 14, ": No such file") == 0)
    return {"#include <" + missing->second + ">", 0};
  const std::size_t at = log.find("error: ");
  if (at == std::string::npos) return {"the CPU's compiler does not take it", 0};
  const std::string message = log.substr(at + 7, std::min({log.find('\n', at), log.size(), at + 7 + kMost}) - at - 7);
  if (const int line = line_before(log, at); line > 0) return {"the CPU's compiler does not take it: " + message, line};
  // In a header: what the answer asked of it stands elsewhere in the log ("answer.cu:12:3: required from here").
  const std::size_t use = log.find("answer.cu:");
  const int line = use == std::string::npos ? 0 : Scan(log, use + 10).number().value_or(0);
  const std::string header = outermost_header(log, at);
  return {"the emulation's " + (header.empty() ? as_included(file_before(log, at)) : header) +
              " does not do this: " + message,
          line};
}

}  // namespace kagent::emulate
