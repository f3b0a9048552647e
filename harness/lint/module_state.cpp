// Rules module_state and module_global_present: variables of the module outlive a launch, so a kernel that writes to
// one can remember. Reading a table is honest.
#include "harness/lint/rules.h"

namespace kagent::lint {
namespace {

std::string variable(const Module& module, const Mark& mark) {
  const int origin = mark.origin[0];  // kAddress's
  return origin == kNone ? std::string("?") : shown(module.symbols[static_cast<std::size_t>(origin)].name);
}

// [param0+0]: a place for an argument, marked by what it holds.
bool names_parameter(const Module& module, const Operand& operand) {
  return operand.count == 1 &&
         module.symbols[static_cast<std::size_t>(module.names[operand.first])].kind == Symbol::Kind::kParam;
}

constexpr const char* kAdvice =
    ": what a launch leaves in it a later launch finds; keep data in tensors that the host program passes";

void stores(const Module& module, const Flow& flow, Findings& out) {
  each_statement(module, [&](const Function& f, const Statement& s, std::size_t i) {
    const Effect& effect = flow.effect(i);
    if (!effect.writes) return;
    for (std::uint32_t k = 0; k < s.count; ++k) {
      const Operand& operand = module.operands_of(s)[k];
      const Mark mark = flow.operand(operand);
      const bool address = (mark.bits & kAddress) != 0;
      const bool argument = effect.space == Space::kParam && names_parameter(module, operand);
      if (operand.memory && address && effect.writes_operand(k) && !argument) {
        out.add("module_state", Level::kReject, f, s,
                shown(s.opcode) + " writes to the module-scope variable " + variable(module, mark) + kAdvice);
      }
      const bool kept =
          effect.space == Space::kShared || effect.space == Space::kLocal || effect.space == Space::kParam;
      const bool result = k == 0 && !operand.memory;
      if (!operand.memory && !result && address && !kept) {
        out.add("module_state", Level::kReject, f, s,
                "the address of the module-scope variable " + variable(module, mark) +
                    " is stored to memory, where it can no longer be followed: use the variable by its name");
      }
    }
    if (effect.copies && effect.from_shared && (flow.shared().bits & kAddress) != 0) {
      out.add("module_state", Level::kReject, f, s,
              "shared memory that holds the address of the module-scope variable " + variable(module, flow.shared()) +
                  " is copied out, where it can no longer be followed");
    }
  });
}

// Arguments of functions that are not in the PTX.
void passed_on(const Module& module, const Flow& flow, Findings& out) {
  each_statement(module, [&](const Function& f, const Statement& s, std::size_t) {
    if (s.base() != "call" || s.count == 0) return;
    const Operand* operands = module.operands_of(s);
    const std::uint32_t target = operands[0].group ? 1 : 0;
    if (target + 1 >= s.count || operands[target].count == 0) return;
    const Symbol& called = module.symbols[static_cast<std::size_t>(module.names[operands[target].first])];
    if (called.function || called.name == "__assertfail" || called.name == "vprintf") return;  // calls.cpp
    const Mark mark = flow.operand(operands[target + 1]);
    if ((mark.bits & kAddress) == 0) return;
    out.add("module_state", Level::kReject, f, s,
            "the address of the module-scope variable " + variable(module, mark) +
                " is passed to a function that is not in the PTX, or through a pointer to a function");
  });
}

// NVIDIA's headers leave hundreds of variables that no kernel names: those say nothing.
void present(const Module& module, Findings& out) {
  std::vector<char> named(module.symbols.size(), 0);
  for (const int symbol : module.names) named[static_cast<std::size_t>(symbol)] = 1;
  std::size_t count = 0;
  std::string_view example;
  for (std::size_t i = 0; i < module.symbols.size(); ++i) {
    const Symbol& symbol = module.symbols[i];
    if (symbol.kind != Symbol::Kind::kGlobal || symbol.initialised || named[i] == 0) continue;
    if (count++ == 0) example = symbol.name;
  }
  if (count == 0) return;
  out.add("module_global_present", Level::kFlag,
          "kernels name " + std::to_string(count) + " module-scope variable(s) without initial value, such as " +
              shown(example) + ": a table would have one");
}

}  // namespace

void module_state(const Module& module, const Flow& flow, Findings& out) {
  stores(module, flow, out);
  passed_on(module, flow, out);
  present(module, out);
}

}  // namespace kagent::lint
