// The lexer of the compiler's own preprocessor: C++17 preprocessing tokens of untrusted text. Comments become space,
// line splices vanish (not in raw strings), control characters become space. Never fails: what is no token is passed on
// as one character, and problems are reported beside the tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kagent::compile {

// A remark about the answer. Line: 1-based in the answer; 0 where there is none.
struct Diagnostic {
  int line = 0;
  std::string message;
};

struct Token {
  enum class Kind { kIdentifier, kNumber, kString, kCharacter, kPunctuator } kind = Kind::kPunctuator;
  std::string text;
  int line = 0;
  bool space_before = false;
  bool first_on_line = false;  // of a logical line; the '#' of a directive is one
  bool from_macro = false;
  bool no_expand = false;  // met while its own macro was being expanded

  [[nodiscard]] bool is(std::string_view spelling) const { return kind == Kind::kPunctuator && text == spelling; }
  [[nodiscard]] bool is_identifier() const { return kind == Kind::kIdentifier; }
  [[nodiscard]] bool is_identifier(std::string_view name) const { return is_identifier() && text == name; }
};

using Tokens = std::vector<Token>;

Tokens lex(std::string_view source, std::vector<Diagnostic>& problems);

}  // namespace kagent::compile
