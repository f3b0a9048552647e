#include "agent/llm/estimate.h"

#include <cctype>

namespace kagent::llm {
namespace {

enum class Kind { kLetter, kDigit, kBlank, kSign, kBeyond, kContinuation };

Kind kind_of(unsigned char c) {
  if (c >= 0xC0) return Kind::kBeyond;
  if (c >= 0x80) return Kind::kContinuation;
  if (std::isalpha(c) != 0) return Kind::kLetter;
  if (std::isdigit(c) != 0) return Kind::kDigit;
  return c <= ' ' ? Kind::kBlank : Kind::kSign;
}

std::int64_t tokens_of_run(Kind kind, std::int64_t length) {
  switch (kind) {
    case Kind::kLetter:
      return (length + 4) / 5;
    case Kind::kDigit:
      return (length + 2) / 3;
    case Kind::kBlank:
      return length == 1 ? 0 : 1;  // a single blank belongs to the word behind it
    case Kind::kSign:
      return length;
    case Kind::kBeyond:
      return 2 * length;
    case Kind::kContinuation:
      return 0;
  }
  return length;
}

}  // namespace

std::int64_t estimate_tokens(std::string_view text) {
  std::int64_t tokens = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Kind kind = kind_of(static_cast<unsigned char>(text[at]));
    std::size_t end = at + 1;
    while (end < text.size() && kind_of(static_cast<unsigned char>(text[end])) == kind) ++end;
    tokens += tokens_of_run(kind, static_cast<std::int64_t>(end - at));
    at = end;
  }
  return tokens;
}

}  // namespace kagent::llm
