#include "harness/lint/opcode.h"

#include <algorithm>
#include <array>

namespace kagent::lint {
namespace {

// Instructions that name memory and do not write to it.
constexpr std::array<std::string_view, 20> kReaders = {
    "ld",   "ldu", "ldmatrix", "mov",    "cvta",     "prefetch",     "prefetchu",     "tex",  "tld4",       "txq",
    "suld", "suq", "fence",    "membar", "isspacep", "createpolicy", "applypriority", "mapa", "getctarank", "istypep"};
constexpr std::array<std::string_view, 8> kReadingForms = {"wmma.load",
                                                           "multimem.ld_reduce",
                                                           "mbarrier.try_wait",
                                                           "mbarrier.test_wait",
                                                           "mbarrier.pending_count",
                                                           "cp.async.bulk.prefetch",
                                                           "tcgen05.ld",
                                                           "tcgen05.wait"};

Space space_named(std::string_view part) {
  part = part.substr(0, part.find("::"));
  if (part == "global") return Space::kGlobal;
  if (part == "shared") return Space::kShared;
  if (part == "local") return Space::kLocal;
  if (part == "param") return Space::kParam;
  if (part == "const") return Space::kConst;
  return Space::kGeneric;
}

}  // namespace

bool has_part(std::string_view opcode, std::string_view part) {
  for (std::size_t at = opcode.find(part); at != std::string_view::npos; at = opcode.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    const bool begins = at == 0 || opcode[at - 1] == '.' || opcode[at - 1] == ':';
    if (begins && (end == opcode.size() || opcode[end] == '.' || opcode[end] == ':')) return true;
  }
  return false;
}

Effect effect_of(const Module& module, const Statement& s) {
  Effect out;
  const std::string_view base = s.base();
  out.branches = base == "bra" || base == "brx" || base == "ret" || base == "exit";
  const Operand* operands = module.operands_of(s);
  for (std::uint32_t i = 0; i < s.count; ++i) out.touches_memory = out.touches_memory || operands[i].memory;
  if (base == "call" || !out.touches_memory) {
    out.touches_memory = false;
    return out;
  }
  out.writes = std::find(kReaders.begin(), kReaders.end(), base) == kReaders.end() &&
               std::none_of(kReadingForms.begin(), kReadingForms.end(),
                            [&](std::string_view form) { return s.opcode.starts_with(form); });
  out.copies = base == "cp" || s.opcode.starts_with("tensormap.cp_fenceproxy");
  // The first space named is the destination's, the second a copy's source.
  bool named = false;
  for (std::size_t at = s.opcode.find('.'); at != std::string_view::npos;) {
    const std::size_t next = s.opcode.find('.', at + 1);
    const Space space = space_named(s.opcode.substr(at + 1, next == std::string_view::npos ? next : next - at - 1));
    if (space != Space::kGeneric && !named) {
      out.space = space;
      named = true;
    } else if (space == Space::kShared) {
      out.from_shared = true;
    }
    at = next;
  }
  if (s.opcode.starts_with("stmatrix")) out.space = Space::kShared;
  if (base == "mbarrier") out.space = Space::kShared;
  return out;
}

}  // namespace kagent::lint
