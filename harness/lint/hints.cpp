// Rules cache_policy, pdl and trap: instructions that change no result but may bend the timing, or end a run.
#include "harness/lint/rules.h"

namespace kagent::lint {
namespace {

// `ld.global.L1::evict_last`, also with a size that L2 fetches (`L2::128B`).
bool only_l1(std::string_view opcode) {
  return opcode.find("L1::evict_last") != std::string_view::npos &&
         opcode.find("L2::evict_last") == std::string_view::npos && !has_part(opcode, "cache_hint");
}

}  // namespace

void hints(const Module& module, Findings& out) {
  each_statement(module, [&](const Function& f, const Statement& s, std::size_t) {
    const std::string_view base = s.base();
    const std::string opcode = shown(s.opcode);
    if (has_part(s.opcode, "evict_last") || base == "createpolicy" || has_part(s.opcode, "cache_hint") ||
        base == "applypriority" || base == "discard" || has_part(s.opcode, "persisting")) {
      out.add(
          "cache_policy", Level::kFlag, f, s,
          opcode + (only_l1(s.opcode)
                        ? " asks the L1 cache to keep lines: they are not there any more when the next launch begins"
                        : " asks the L2 cache to treat lines apart: lines that outlive a call would make the next "
                          "one cheaper"));
    }
    if (base == "griddepcontrol") {
      out.add("pdl", Level::kFlag, f, s,
              opcode + " does nothing here: kernels are never launched to overlap with one another");
    }
    if (base == "trap") out.add("trap", Level::kFlag, f, s, "has a trap: if it runs it ends the run");
    if (base == "brkpt" || base == "pmevent")
      out.add("trap", Level::kReject, f, s, opcode + " is for debuggers and profilers: leave it out");
    if (base == "nanosleep") out.add("nanosleep", Level::kFlag, f, s, "sleeps: fine in a waiting loop");
  });
}

}  // namespace kagent::lint
