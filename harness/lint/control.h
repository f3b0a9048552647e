// Basic blocks of a function and which branch decides whether a block runs (Ferrante, Ottenstein and Warren, 1987).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "harness/lint/ptx.h"

namespace kagent::lint {

struct Blocks {
  std::vector<std::uint32_t> of;     // block of a statement, by its place in the function
  std::vector<std::uint32_t> first;  // statements of a block, by their place in the function
  std::vector<std::uint32_t> last;
  std::vector<std::vector<std::uint32_t>> next;  // successors; leaving the function is `exit`
  std::uint32_t exit = 0;
  bool complete = true;  // false: too many targets of indirect branches, some are left out
};

struct Dependence {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // (block whose last statement decides, block)
  bool followed = true;                                        // false: past the bound on work, pairs are incomplete
};

Blocks blocks_of(const Module& module, const Function& f);
Dependence control_dependence(const Blocks& blocks);

}  // namespace kagent::lint
