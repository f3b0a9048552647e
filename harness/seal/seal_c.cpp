// The seal for Python's ctypes: plain C types in, one line of text out.

#include <cstring>
#include <string>
#include <vector>

#include "harness/seal/seal.h"

namespace {

std::vector<std::string> split_lines(const char* text) {
  std::vector<std::string> lines;
  for (const char* at = text; *at != '\0';) {
    const char* end = std::strchr(at, '\n');
    lines.emplace_back(at, end != nullptr ? static_cast<std::size_t>(end - at) : std::strlen(at));
    at = end != nullptr ? end + 1 : at + lines.back().size();
  }
  return lines;
}

int report(const kagent::seal::Outcome& outcome, char* text, int text_bytes) {
  const std::string& said = outcome.sealed ? outcome.how : outcome.error;
  if (text != nullptr && text_bytes > 0) {
    std::strncpy(text, said.c_str(), static_cast<std::size_t>(text_bytes - 1));
    text[text_bytes - 1] = '\0';
  }
  return outcome.sealed ? 0 : 1;
}

}  // namespace

extern "C" {

// `readable`: paths, one a line. Returns 0 when sealed; `text` says how, or why not.
int kagent_seal(const char* readable, long cpu_seconds, long memory_bytes, char* text, int text_bytes) {
  kagent::seal::Rules rules;
  rules.readable = split_lines(readable);
  rules.cpu_seconds = cpu_seconds;
  rules.memory_bytes = memory_bytes;
  rules.file_bytes = 1;
  return report(kagent::seal::seal(rules), text, text_bytes);
}

int kagent_seal_probe(char* text, int text_bytes) { return report(kagent::seal::probe(), text, text_bytes); }
}
