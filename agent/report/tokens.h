// CUDA C++ and Python in pieces that a page colours. Nothing is parsed: what is no comment, string, number or keyword
// is plain, and any bytes at all have tokens.
#pragma once

#include <string_view>
#include <vector>

namespace kagent::report {

enum class Language { kCuda, kPython };
enum class TokenKind { kPlain, kComment, kString, kNumber, kKeyword };

struct Token {
  TokenKind kind = TokenKind::kPlain;
  std::string_view text;  // of the code; all of them one after the other are the code
};

std::vector<Token> tokens_of(std::string_view code, Language language);

}  // namespace kagent::report
