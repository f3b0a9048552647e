#include "harness/compile/ptx_facts.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <regex>
#include <sstream>
#include <vector>

namespace kagent::compile {
namespace {

using nlohmann::json;

std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return "";  // the demangler takes "w" for a type
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

json parameter(const std::string& line, const std::string& type) {
  static const std::regex kParam(
      "\\.param\\s+(?:\\.align\\s+(\\d+)\\s+)?\\.(\\w+)(?:\\s+\\.ptr[^_]*?)?\\s+[\\w$]+(?:\\[(\\d+)\\])?\\s*,?\\s*$");
  std::smatch m;
  json out = {{"size", 0}, {"align", 1}, {"kind", "int"}, {"pointee", nullptr}, {"const", nullptr}};
  if (!std::regex_search(line, m, kParam)) return out;
  const std::string kind = m[2];
  if (m[3].matched) {
    const int align = m[1].matched ? std::stoi(m[1]) : 1;
    out.update({{"size", std::stoi(m[3])}, {"align", align}, {"kind", "struct"}});
    return out;
  }
  const int bits = std::atoi(kind.c_str() + 1);
  out.update({{"size", bits / 8}, {"align", bits / 8}, {"kind", kind[0] == 'f' ? "float" : "int"}});
  if (bits == 64 && kind[0] != 'f' && (type.empty() || type.find('*') != std::string::npos)) {
    out["kind"] = "pointer";
    describe_pointer(type, out);
  }
  return out;
}

int number_after(const std::string& text, const std::regex& pattern) {
  std::smatch m;
  return std::regex_search(text, m, pattern) ? std::stoi(m[1]) : 0;
}

// ptxas's report on one symbol.
void add_resources(const std::string& log, const std::string& symbol, json& facts) {
  // The last one: messages that the source makes itself come before ptxas's.
  const std::size_t begin = log.rfind("Compiling entry function '" + symbol + "'");
  std::string part;
  if (begin != std::string::npos) part = log.substr(begin, log.find("Compiling entry function", begin + 10) - begin);
  static const std::regex kRegisters("Used (\\d+) registers");
  static const std::regex kShared("(\\d+) bytes smem");
  static const std::regex kStack("(\\d+) bytes stack frame");
  static const std::regex kStores("(\\d+) bytes spill stores");
  static const std::regex kLoads("(\\d+) bytes spill loads");
  facts["registers"] = number_after(part, kRegisters);
  facts["static_shared_bytes"] = number_after(part, kShared);
  facts["local_bytes"] = number_after(part, kStack);
  facts["spill_store_bytes"] = number_after(part, kStores);
  facts["spill_load_bytes"] = number_after(part, kLoads);
}

// Directives between the parameter list and the body.
void add_directives(const std::string& head, json& facts) {
  static const std::regex kMax("\\.maxntid\\s+(\\d+)(?:,\\s*(\\d+))?(?:,\\s*(\\d+))?");
  static const std::regex kCluster("\\.reqnctapercluster\\s+(\\d+)(?:,\\s*(\\d+))?(?:,\\s*(\\d+))?");
  const auto three = [](const std::smatch& m) {
    return std::vector<int>{std::stoi(m[1]), m[2].matched ? std::stoi(m[2]) : 1, m[3].matched ? std::stoi(m[3]) : 1};
  };
  std::smatch m;
  facts["max_threads"] = 1024;
  if (std::regex_search(head, m, kMax)) {
    const auto n = three(m);
    facts["max_threads"] = n[0] * n[1] * n[2];
  }
  facts["required_cluster"] = std::regex_search(head, m, kCluster) ? json(three(m)) : json();
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
  for (std::size_t at = ptx.find(".entry "); at != std::string::npos; at = ptx.find(".entry ", at + 1)) {
    const std::size_t open = ptx.find('(', at);
    const std::size_t body = ptx.find('{', at);
    if (open == std::string::npos || body == std::string::npos) break;
    const std::string symbol = trimmed(ptx.substr(at + 7, std::min(open, body) - at - 7));
    const bool mangled = !demangled(symbol).empty();
    const std::vector<std::string> types =
        mangled ? types_of_signature(demangled(symbol)) : types_in_source(source, symbol);
    json params = json::array();
    std::string head;
    if (open < body) {
      const std::size_t close = ptx.find(')', open);
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
