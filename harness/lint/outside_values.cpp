// Rules timer, timer_reaches_store and workspace_reaches_store: a clock or the driver's grid workspace may decide how
// long a thread waits, and nothing that a kernel leaves behind.
#include "harness/lint/rules.h"

namespace kagent::lint {
namespace {

constexpr std::string_view kTimerAdvice =
    ": what a kernel writes must not depend on the time; waiting loops may read a clock";

void report(std::uint8_t bits, const std::string& how, const Function& f, const Statement& s, Findings& out) {
  if ((bits & kTimer) != 0)
    out.add("timer_reaches_store", Level::kReject, f, s, "the value of a clock " + how + std::string(kTimerAdvice));
  if ((bits & kWorkspace) != 0) {
    out.add("workspace_reaches_store", Level::kReject, f, s,
            "what the driver's grid workspace (%envreg1, %envreg2) holds " + how +
                ": only a grid-wide barrier may use it, as cooperative groups do");
  }
}

void store(const Module& module, const Flow& flow, std::size_t i, const Function& f, Findings& out) {
  const Statement& s = module.statements[i];
  const Effect& effect = flow.effect(i);
  const std::string opcode = shown(s.opcode);
  // Spills and arguments are followed further.
  const bool kept = effect.space == Space::kLocal || effect.space == Space::kParam;
  for (std::uint32_t k = 0; k < s.count; ++k) {
    const Operand& operand = module.operands_of(s)[k];
    if (k == 0 && !operand.memory) continue;  // the result of an atomic
    const std::uint8_t bits = flow.operand(operand).bits;
    if (!operand.memory) {
      if (!kept) report(bits, "reaches " + opcode, f, s, out);
      continue;
    }
    if (kept && !effect.copies) continue;
    report(bits & kTimer, "decides where " + opcode + " writes", f, s, out);
    const bool arrives = (s.base() == "atom" || s.base() == "red") && has_part(s.opcode, "add");
    if (!arrives) report(bits & kWorkspace, "decides where " + opcode + " writes", f, s, out);
  }
  if (!kept) report(flow.control(i).bits, "decides whether " + opcode + " runs", f, s, out);
}

}  // namespace

void outside_values(const Module& module, const Flow& flow, Findings& out) {
  each_statement(module, [&](const Function& f, const Statement& s, std::size_t i) {
    for (std::uint32_t k = 0; k < s.count; ++k) {
      const Operand& operand = module.operands_of(s)[k];
      for (std::uint32_t n = operand.first; n < operand.first + operand.count; ++n) {
        const std::string_view name = module.symbols[static_cast<std::size_t>(module.names[n])].name;
        if (outside_kind(name) == kTimer)
          out.add("timer", Level::kFlag, f, s,
                  "reads " + shown(name) + ": fine in a waiting loop, as libcu++'s barriers have");
      }
    }
    if (flow.effect(i).writes) store(module, flow, i, f, out);
  });
  if (!flow.followed()) {
    out.add("timer_reaches_store", Level::kReject,
            "the branches of a module that reads a clock or the grid workspace are too many to be followed");
  }
}

}  // namespace kagent::lint
