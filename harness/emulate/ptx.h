// Inline PTX of single, common instructions as calls of C++ functions (include/kagent_emulate/ptx.h).
#pragma once

#include <string>
#include <variant>

namespace kagent::emulate {

struct UnknownPtx {
  std::string instruction;  // the first that is not known, or what else was in the way
};

// The text of one asm statement, from `asm` to its last `)`. Gives a C++ expression statement without the semicolon.
std::variant<std::string, UnknownPtx> translate_asm(const std::string& statement);

}  // namespace kagent::emulate
