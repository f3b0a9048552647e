// What an instruction does to memory, told from its opcode. What is not known writes to all memory it names.
#pragma once

#include "harness/lint/ptx.h"

namespace kagent::lint {

enum class Space { kGeneric, kGlobal, kShared, kLocal, kParam, kConst };

struct Effect {
  bool touches_memory = false;
  bool writes = false;            // to some operand
  bool copies = false;            // operand 0 is written from what operand 1 points at
  Space space = Space::kGeneric;  // of what is written, or read where nothing is
  bool from_shared = false;       // a copy's source
  bool branches = false;          // bra, brx, ret, exit

  [[nodiscard]] bool writes_operand(std::uint32_t i) const { return writes && !(copies && i == 1); }
};

Effect effect_of(const Module& module, const Statement& s);

// "global" among the parts of "ld.global.f32"; "L2::cache_hint" and "cache_hint" are both parts.
bool has_part(std::string_view opcode, std::string_view part);

}  // namespace kagent::lint
