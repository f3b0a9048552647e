// What the checking build sees: every access of the answer's code to memory (access.cpp has the compiler's callbacks).
#pragma once

#include <cstddef>

#include "harness/emulate/runtime/wire.h"

namespace kagent::emulate {

class Block;

bool checking();      // this program is a checking build
void set_checking();  // by the first instrumented code

// Tensors of the coming launch, all in the arena.
void set_tensors(const char* arena, std::size_t bytes, const Range* ranges, unsigned count);
// A new block on this operating-system thread: nothing of its shared memory is written yet.
void access_block_begins(const Block& block);

// "illegal memory access, 4 bytes past the end of args[1], a tensor of 4096 bytes"
void describe_address(const void* address, char* text, std::size_t room);

}  // namespace kagent::emulate
