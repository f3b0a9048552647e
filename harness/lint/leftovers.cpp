// Rule leftovers: per-thread local memory read where nothing can have been written to it yet holds what an earlier
// thread left there. Only what is certain is told: on no way from the kernel's begin to the load does a store to local
// memory, a store to who knows where, or a call come first. No honest kernel reads such a value.
#include <vector>

#include "harness/lint/control.h"
#include "harness/lint/rules.h"

namespace kagent::lint {
namespace {

bool may_write_local(const Statement& s, const Effect& effect) {
  const bool elsewhere = effect.space == Space::kGlobal || effect.space == Space::kShared ||
                         effect.space == Space::kParam || effect.space == Space::kConst;
  return s.base() == "call" || (effect.writes && !elsewhere);
}

bool reads_local(const Statement& s, const Effect& effect) {
  return s.base() == "ld" && effect.touches_memory && effect.space == Space::kLocal;
}

void of_kernel(const Module& module, const Flow& flow, const Function& f, Findings& out) {
  const Blocks blocks = blocks_of(module, f);
  if (!blocks.complete || blocks.exit == 0) return;
  // By block: reached from the begin; reached with a store behind it.
  std::vector<char> reached(blocks.exit, 0);
  std::vector<char> stored(blocks.exit, 0);
  const auto passes = [&](std::uint32_t b, bool before, bool tell) {
    for (std::uint32_t i = f.first + blocks.first[b]; i <= f.first + blocks.last[b]; ++i) {
      const Statement& s = module.statements[i];
      if (tell && !before && reads_local(s, flow.effect(i))) {
        out.add("leftovers", Level::kReject, f, s,
                "local memory (an array of the thread's own) is read before anything is written to it: it holds what "
                "an earlier launch left there");
      }
      before = before || may_write_local(s, flow.effect(i));
    }
    return before;
  };
  reached[0] = 1;
  std::vector<std::uint32_t> work = {0};
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    const bool after = passes(b, stored[b] != 0, false);
    for (const std::uint32_t to : blocks.next[b]) {
      if (to >= blocks.exit || (reached[to] != 0 && (stored[to] != 0 || !after))) continue;
      reached[to] = 1;
      stored[to] = static_cast<char>(stored[to] != 0 || after);
      work.push_back(to);
    }
  }
  for (std::uint32_t b = 0; b < blocks.exit; ++b) {
    if (reached[b] != 0) passes(b, stored[b] != 0, true);
  }
}

}  // namespace

void leftovers(const Module& module, const Flow& flow, Findings& out) {
  for (const Function& f : module.functions) {
    if (!f.entry) continue;  // who calls a function has a stack of its own
    bool reads = false;
    for (std::uint32_t i = f.first; i < f.first + f.count && !reads; ++i) {
      reads = reads_local(module.statements[i], flow.effect(i));
    }
    if (reads) of_kernel(module, flow, f, out);
  }
}

}  // namespace kagent::lint
