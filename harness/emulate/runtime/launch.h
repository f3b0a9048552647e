// A launch: its blocks over operating-system threads.
#pragma once

#include "harness/emulate/runtime/block.h"

namespace kagent::emulate {

// Returns when all blocks have run. A block may wait for others that have not begun (a cooperative launch, or one that
// counts on all being there at once): when none ends for a while, more begin.
void run_launch(const Kernel& kernel, const Launch& launch, void** arguments);

}  // namespace kagent::emulate
