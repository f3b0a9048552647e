#include "harness/emulate/translate.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <sstream>

#include "harness/compile/compile.h"
#include "harness/emulate/ptx.h"

namespace kagent::emulate {
namespace {

// Comments, and what strings contain, as blanks of the same length: positions stay.
std::string blanked(const std::string& text) {
  std::string out = text;
  enum class In { kCode, kLine, kBlock, kString, kChar } in = In::kCode;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (in == In::kCode) {
      if (c == '/' && next == '/') in = In::kLine;
      if (c == '/' && next == '*') in = In::kBlock;
      if (c == '"') in = In::kString;
      // A digit separator (1'000) is no character.
      if (c == '\'' && (i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0)) in = In::kChar;
      if (in == In::kLine || in == In::kBlock) out[i] = ' ';
      continue;
    }
    const bool end =
        (in == In::kLine && c == '\n') || (in == In::kString && c == '"') || (in == In::kChar && c == '\'');
    if (in == In::kBlock && c == '*' && next == '/') {
      out[i] = out[i + 1] = ' ';
      ++i;
      in = In::kCode;
      continue;
    }
    if (c == '\\' && (in == In::kString || in == In::kChar)) {
      out[i] = ' ';
      if (next != '\n' && i + 1 < out.size()) out[i + 1] = ' ';
      ++i;
      continue;
    }
    if (end) {
      in = In::kCode;
    } else if (c != '\n') {
      out[i] = ' ';
    }
  }
  return out;
}

std::size_t newlines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

int line_at(const std::string& text, std::size_t at) {
  return static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1;
}

// Braces open at `at`, those of namespaces and extern "C" left out: 0 is file scope.
int depth_at(const std::string& code, std::size_t at) {
  static const std::regex kTransparent("(?:namespace\\s*[\\w:]*|extern\\s*\"\\s*\")\\s*$");
  std::vector<bool> open;
  for (std::size_t i = 0; i < at; ++i) {
    if (code[i] == '{') {
      const std::string before = code.substr(i > 120 ? i - 120 : 0, std::min<std::size_t>(i, 120));
      open.push_back(!std::regex_search(before, kTransparent));
    }
    if (code[i] == '}' && !open.empty()) open.pop_back();
  }
  return static_cast<int>(std::count(open.begin(), open.end(), true));
}

// `extern __shared__ float x[];` becomes a pointer, at file scope a macro.
std::string dynamic_shared(const std::string& body) {
  static const std::regex kDeclared(
      R"(extern\s+((?:(?:__shared__|__align__\s*\(\s*\d+\s*\)|alignas\s*\(\s*\d+\s*\)|volatile)\s*)+)([A-Za-z_][\w:<>,\s]*?)\s*(?:__align__\s*\(\s*\d+\s*\)\s*)?\b(\w+)\s*\[\s*\]\s*;)");
  const std::string code = blanked(body);
  std::string out;
  std::size_t done = 0;
  for (std::sregex_iterator it(code.begin(), code.end(), kDeclared), end; it != end; ++it) {
    if ((*it)[1].str().find("__shared__") == std::string::npos) continue;
    const auto at = static_cast<std::size_t>(it->position());
    out += body.substr(done, at - done);
    const std::string type = (*it)[2], name = (*it)[3];
    if (depth_at(code, at) == 0) {
      out += "\n#define " + name + " (static_cast<" + type + "*>(kagent::emulate::dynamic_shared()))\n#line " +
             std::to_string(line_at(code, at + static_cast<std::size_t>(it->length()))) + " \"" + compile::kAnswerName +
             "\"\n";
    } else {
      out += type + "* " + name + " = static_cast<" + type + "*>(kagent::emulate::dynamic_shared());";
      out += std::string(newlines(it->str()), '\n');
    }
    done = at + static_cast<std::size_t>(it->length());
  }
  return out + body.substr(done);
}

// Replaces asm statements by calls, in place; lines stay.
std::optional<NotEmulable> without_asm(std::string& body) {
  static const std::regex kAssembler(R"(\b(?:asm|__asm__|__asm)\b\s*(?:volatile|__volatile__)?\s*\()");
  std::string code = blanked(body);
  std::smatch found;
  for (std::size_t from = 0;
       std::regex_search(code.cbegin() + static_cast<std::ptrdiff_t>(from), code.cend(), found, kAssembler);) {
    const std::size_t at = from + static_cast<std::size_t>(found.position());
    std::size_t end = at + static_cast<std::size_t>(found.length());
    for (int depth = 1; depth > 0 && end < code.size(); ++end)
      depth += code[end] == '(' ? 1 : code[end] == ')' ? -1 : 0;
    const std::string statement = body.substr(at, end - at);
    const auto call = translate_asm(statement);
    if (const auto* unknown = std::get_if<UnknownPtx>(&call))
      return NotEmulable{"inline PTX (" + unknown->instruction.substr(0, 80) + ")", line_at(code, at)};
    std::string with = std::get<std::string>(call);
    std::replace(with.begin(), with.end(), '\n', ' ');  // an operand may stand in it twice
    with += std::string(newlines(statement), '\n');
    body.replace(at, end - at, with);
    code.replace(at, end - at, with);
    from = at + with.size();
  }
  return std::nullopt;
}

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

}  // namespace

std::variant<std::string, NotEmulable> translate(const compile::Source& source, const std::vector<std::string>& names) {
  const std::size_t begin = compile::prefix_of(source.headers).size();
  std::string body = source.text.substr(std::min(begin, source.text.size()));
  const std::string start = std::string("#line 1 \"") + compile::kAnswerName + "\"\n";
  if (body.starts_with(start)) body.erase(0, start.size());
  if (auto no = without_asm(body)) return *no;
  const std::string code = blanked(body);
  std::smatch found;
  static const std::regex kWords(
      R"((__attribute__|__attribute|\[\[\s*gnu\s*::|#\s*pragma\s+(?:GCC|GNU|weak|redefine_extname|message)|__builtin_\w+|__float128|__int128))");
  if (std::regex_search(code, found, kWords))
    return NotEmulable{"the compiler's own words (" + found[1].str() + ")",
                       line_at(code, static_cast<std::size_t>(found.position()))};

  static const std::regex kWaits(
      R"(sync|asm|kagent::ptx|cooperative_groups|barrier|wmma|shfl|vote|cub|atomic|mma_|nanosleep|warp_|threadfence|cp_async|while)");
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
         ";\nconst bool kagent_fibers = " + (std::regex_search(code, kWaits) ? "true" : "false") + ";\n";
  return out;
}

NotEmulable reason_in(const std::string& log) {
  static const std::regex kNamed("(?:answer\\.cu:(\\d+):[^\\n]*)?not emulable: ([^\\n\"\\]]+)");
  static const std::regex kMissing("fatal error: ([^\\n:]+): No such file");
  static const std::regex kFirst("answer\\.cu:(\\d+):(?:\\d+:)? (?:fatal )?error: ([^\\n]{1,300})");
  std::smatch match;
  if (std::regex_search(log, match, kNamed)) return {match[2].str(), match[1].matched ? std::stoi(match[1].str()) : 0};
  if (std::regex_search(log, match, kMissing)) return {"#include <" + match[1].str() + ">", 0};
  if (std::regex_search(log, match, kFirst))
    return {"the CPU's compiler does not take it: " + match[2].str(), std::stoi(match[1].str())};
  return {"the CPU's compiler does not take it", 0};
}

}  // namespace kagent::emulate
