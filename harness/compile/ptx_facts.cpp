#include "harness/compile/ptx_facts.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "harness/compile/scan.h"

namespace kagent::compile {
namespace {

using nlohmann::json;

// A name can refer to parts of itself (S0_, T_), and each level of such references can double what it stands for: a few
// hundred bytes name terabytes. So many references make at most some megabytes; kernels have two or three.
constexpr std::size_t kMostReferences = 30;
constexpr std::size_t kMostSymbol = 4096;   // bytes
constexpr std::size_t kMostKernels = 2000;  // of one source: each is looked for in the whole source and log

bool is_small(std::string_view symbol) {
  std::size_t references = 0;
  for (std::size_t i = 0; i < symbol.size() && symbol.size() <= kMostSymbol; ++i) {
    if (symbol[i] != 'S' && symbol[i] != 'T') continue;
    Scan scan(symbol, i + 1);
    scan.run([](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z'); });
    if (scan.take("_")) ++references;
  }
  return symbol.size() <= kMostSymbol && references <= kMostReferences;
}

std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z") || !is_small(symbol)) return "";  // the demangler takes "w" for a type
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text ? text.get() : "";
}

// The text without comments and without what strings contain: neither can be told from directives by a scan.
std::string bare(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
      out += '\n';
    } else if (text.compare(i, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", i + 2);
      i = end == std::string::npos ? text.size() : end + 1;
      out += ' ';
    } else if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i) {
        if (text[i] == '\\') ++i;
      }
      out += "\"\"";
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string trimmed(const std::string& s) {
  const std::size_t begin = s.find_first_not_of(" \t\n");
  return begin == std::string::npos ? "" : s.substr(begin, s.find_last_not_of(" \t\n") - begin + 1);
}

// Splits at commas outside brackets.
std::vector<std::string> split_types(const std::string& list) {
  std::vector<std::string> out;
  std::string current;
  int depth = 0;
  for (const char c : list) {
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      out.push_back(trimmed(current));
      current.clear();
    } else {
      current += c;
    }
  }
  if (!trimmed(current).empty()) out.push_back(trimmed(current));
  return out;
}

// Parameter types of "void bn<0>(float const*, int)".
std::vector<std::string> types_of_signature(const std::string& signature) {
  if (signature.empty() || signature.back() != ')') return {};
  int depth = 0;
  for (std::size_t i = signature.size(); i-- > 0;) {
    if (signature[i] == ')') ++depth;
    if (signature[i] == '(' && --depth == 0) return split_types(signature.substr(i + 1, signature.size() - i - 2));
  }
  return {};
}

// Parameter declarations of an extern "C" kernel as its source writes them.
std::vector<std::string> types_in_source(const std::string& source, const std::string& name) {
  for (std::size_t at = source.find(name); at != std::string::npos; at = source.find(name, at + 1)) {
    const std::size_t open = source.find_first_not_of(" \t\n", at + name.size());
    const bool word =
        at == 0 || (std::isalnum(static_cast<unsigned char>(source[at - 1])) == 0 && source[at - 1] != '_');
    if (!word || open == std::string::npos || source[open] != '(') continue;
    const std::size_t close = source.find(')', open);
    if (close == std::string::npos) return {};
    return split_types(source.substr(open + 1, close - open - 1));
  }
  return {};
}

// "float" and const for "float const*", "const float * __restrict__ x", "x": nothing for what is no pointer.
void describe_pointer(const std::string& type, json& param) {
  const std::size_t star = type.find('*');
  param["pointee"] = nullptr;
  param["const"] = nullptr;
  if (star == std::string::npos) return;
  std::istringstream words(type.substr(0, star));
  std::string word;
  std::string pointee;
  bool is_const = false;
  while (words >> word) {
    if (word == "const") {
      is_const = true;
    } else if (word != "__restrict__" && word != "volatile") {
      pointee += (pointee.empty() ? "" : " ") + word;
    }
  }
  param["pointee"] = pointee;
  param["const"] = is_const;
}

// `.param .u64 .ptr .global .align 4 k_param_0,`, `.param .align 8 .b8 k_param_1[24]`
json parameter(const std::string& line, const std::string& type) {
  json out = {{"size", 0}, {"align", 1}, {"kind", "int"}, {"pointee", nullptr}, {"const", nullptr}};
  Scan scan(line, line.find(".param"));
  scan.take(".param");
  scan.blanks();
  int align = 1;
  if (scan.take(".align")) {
    scan.blanks();
    align = scan.number().value_or(1);
    scan.blanks();
  }
  if (!scan.take(".")) return out;
  const std::string_view kind = scan.word();
  scan.blanks();
  while (scan.next() == '.' || is_digit(scan.next())) {  // .ptr and what it says of the pointer
    scan.take(".");
    scan.word();
    scan.blanks();
  }
  if (kind.empty() || scan.run([](char c) { return is_word(c) || c == '$'; }).empty()) return out;
  if (scan.take("[")) {
    out.update({{"size", scan.number().value_or(0)}, {"align", align}, {"kind", "struct"}});
    return out;
  }
  const int bits = Scan(kind, 1).number().value_or(0);
  out.update({{"size", bits / 8}, {"align", bits / 8}, {"kind", kind[0] == 'f' ? "float" : "int"}});
  if (bits == 64 && kind[0] != 'f' && (type.empty() || type.find('*') != std::string::npos)) {
    out["kind"] = "pointer";
    describe_pointer(type, out);
  }
  return out;
}

// The first number that stands between these two texts; 0 if none does.
int number_between(std::string_view text, std::string_view before, std::string_view after) {
  for (std::size_t end = text.find(after); end != std::string_view::npos; end = text.find(after, end + 1)) {
    std::size_t begin = end;
    while (begin > 0 && is_digit(text[begin - 1])) --begin;
    const std::optional<int> number = Scan(text.substr(begin, end - begin)).number();
    if (number && text.substr(0, begin).ends_with(before)) return *number;
  }
  return 0;
}

// ptxas's report on one symbol.
void add_resources(const std::string& log, const std::string& symbol, json& facts) {
  // The last one: messages that the source makes itself come before ptxas's.
  const std::size_t begin = log.rfind("Compiling entry function '" + symbol + "'");
  std::string part;
  if (begin != std::string::npos) part = log.substr(begin, log.find("Compiling entry function", begin + 10) - begin);
  facts["registers"] = number_between(part, "Used ", " registers");
  facts["static_shared_bytes"] = number_between(part, "", " bytes smem");
  facts["local_bytes"] = number_between(part, "", " bytes stack frame");
  facts["spill_store_bytes"] = number_between(part, "", " bytes spill stores");
  facts["spill_load_bytes"] = number_between(part, "", " bytes spill loads");
}

// `.maxntid 256, 1, 1`: one to three numbers, the others 1. No number of threads or blocks is larger than kMost.
std::optional<std::array<std::int64_t, 3>> three_after(const std::string& head, std::string_view directive) {
  constexpr int kMost = 1 << 20;
  const std::size_t at = head.find(directive);
  if (at == std::string::npos) return std::nullopt;
  Scan scan(head, at + directive.size());
  std::array<std::int64_t, 3> numbers = {1, 1, 1};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    scan.blanks();
    const std::optional<int> number = scan.number();
    if (!number && i == 0) return std::nullopt;
    if (!number) break;
    numbers[i] = std::min(*number, kMost);
    scan.blanks();
    if (!scan.take(",")) break;
  }
  return numbers;
}

// Directives between the parameter list and the body.
void add_directives(const std::string& head, json& facts) {
  const auto threads = three_after(head, ".maxntid");
  facts["max_threads"] = threads ? (*threads)[0] * (*threads)[1] * (*threads)[2] : 1024;
  const auto cluster = three_after(head, ".reqnctapercluster");
  facts["required_cluster"] = cluster ? json(*cluster) : json();
}

}  // namespace

std::string plain_name(const std::string& symbol) {
  std::string full = demangled(symbol);
  if (full.empty()) return symbol;
  if (full.starts_with("void ")) full.erase(0, 5);
  int depth = 0;
  for (std::size_t i = 0; i < full.size(); ++i) {
    if (full[i] == '<') ++depth;
    if (full[i] == '>') --depth;
    if (full[i] == '(' && depth == 0) return full.substr(0, i);
  }
  return full;
}

json kernel_facts(const std::string& ptx_text, const std::string& log, const std::string& source_text) {
  const std::string ptx = bare(ptx_text);
  const std::string source = bare(source_text);
  json kernels = json::object();
  std::size_t open = 0;
  std::size_t body = 0;
  for (std::size_t at = ptx.find(".entry "); at != std::string::npos && kernels.size() < kMostKernels;
       at = ptx.find(".entry ", at + 1)) {
    if (open <= at) open = ptx.find('(', at);
    if (body <= at) body = ptx.find('{', at);
    if (open == std::string::npos || body == std::string::npos) break;
    const std::size_t end = std::min(open, body);
    if (end - at > kMostSymbol) continue;
    const std::string symbol = trimmed(ptx.substr(at + 7, end - at - 7));
    if (kernels.contains(symbol)) continue;
    const bool mangled = !demangled(symbol).empty();
    const std::vector<std::string> types =
        mangled ? types_of_signature(demangled(symbol)) : types_in_source(source, symbol);
    json params = json::array();
    std::string head;
    if (const std::size_t close = ptx.find(')', open); open < close && close < body) {
      std::istringstream lines(ptx.substr(open + 1, close - open - 1));
      std::string line;
      std::size_t i = 0;
      while (std::getline(lines, line)) {
        if (line.find(".param") == std::string::npos) continue;
        params.push_back(parameter(line, i < types.size() ? types[i] : ""));
        ++i;
      }
      head = ptx.substr(close, body - close);
    }
    json facts = {{"symbol", symbol}, {"mangled", mangled}, {"params", params}};
    add_directives(head, facts);
    add_resources(log, symbol, facts);
    kernels[symbol] = facts;
  }
  return kernels;
}

}  // namespace kagent::compile
