// Rule extern_call: code that is not in the PTX, above all the driver's printf, malloc and device-side launches.
#include "harness/lint/rules.h"

namespace kagent::lint {
namespace {

std::string advice(std::string_view name) {
  if (name == "vprintf") return "calls printf: kernels must not print";
  if (name == "malloc" || name == "free")
    return "calls " + std::string(name) +
           ": memory that outlives a launch is state; take a tensor from the host program";
  if (name.starts_with("cudaLaunch") || name.starts_with("cudaGetParameterBuffer") || name.starts_with("__cudaCDP") ||
      name.starts_with("__cudaLaunch"))
    return "launches from the device: launch from the host program";
  return "calls " + shown(name) + ", which is not in the PTX: use code that is compiled with the answer";
}

}  // namespace

void calls(const Module& module, Findings& out) {
  each_statement(module, [&](const Function& f, const Statement& s, std::size_t) {
    const bool call = s.base() == "call";
    for (std::uint32_t k = 0; k < s.count; ++k) {
      const Operand& operand = module.operands_of(s)[k];
      for (std::uint32_t n = operand.first; n < operand.first + operand.count; ++n) {
        const Symbol& symbol = module.symbols[static_cast<std::size_t>(module.names[n])];
        const bool target = call && !operand.group && k < 2 && n == operand.first;
        const bool unknown = target && symbol.kind == Symbol::Kind::kUnknown;
        const bool absent = symbol.kind == Symbol::Kind::kFunction && !symbol.function;
        if (!unknown && !absent) continue;
        if (k > 0 && call && !operand.group && !target) continue;  // the prototype of an indirect call
        // An assertion can only end the run, which is seen: nothing is gained by it.
        const bool assertion = symbol.name == "__assertfail";
        out.add("extern_call", assertion ? Level::kFlag : Level::kReject, f, s,
                assertion ? "has an assert: its failure ends the run" : advice(symbol.name));
      }
    }
  });
}

}  // namespace kagent::lint
