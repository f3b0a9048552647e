// Rule special_register: an allow-list. Registers that count launches or tell one run from another are state.
#include <algorithm>
#include <array>

#include "harness/lint/rules.h"

namespace kagent::lint {
namespace {

constexpr std::array<std::string_view, 26> kAllowed = {"%tid",
                                                       "%ntid",
                                                       "%ctaid",
                                                       "%nctaid",
                                                       "%laneid",
                                                       "%warpid",
                                                       "%nwarpid",
                                                       "%lanemask_eq",
                                                       "%lanemask_le",
                                                       "%lanemask_lt",
                                                       "%lanemask_ge",
                                                       "%lanemask_gt",
                                                       "%clusterid",
                                                       "%nclusterid",
                                                       "%cluster_ctaid",
                                                       "%cluster_nctaid",
                                                       "%cluster_ctarank",
                                                       "%cluster_nctarank",
                                                       "%is_explicit_cluster",
                                                       "%dynamic_smem_size",
                                                       "%total_smem_size",
                                                       "%aggr_smem_size",
                                                       "%reserved_smem_offset_begin",
                                                       "%reserved_smem_offset_end",
                                                       "%reserved_smem_offset_cap",
                                                       "%reserved_smem_offset_0"};

}  // namespace

void special_registers(const Module& module, Findings& out) {
  each_statement(module, [&](const Function& f, const Statement& s, std::size_t) {
    const auto check = [&](int id) {
      const Symbol& symbol = module.symbols[static_cast<std::size_t>(id)];
      const std::string_view name = symbol.name;
      if (symbol.kind != Symbol::Kind::kSpecial || outside_kind(name) == kTimer) return;
      if (std::find(kAllowed.begin(), kAllowed.end(), name) != kAllowed.end() || name == "%reserved_smem_offset_1")
        return;
      if (name == "%smid" || name == "%nsmid") {
        out.add("special_register", Level::kFlag, f, s,
                "reads " + shown(name) + ": results must not depend on the multiprocessor");
      } else if (outside_kind(name) == kWorkspace) {
        out.add("special_register", Level::kNote, f, s,
                "reads the driver's grid workspace, as cooperative groups' grid barrier does");
      } else {
        out.add("special_register", Level::kReject, f, s,
                "reads " + shown(name) + ", which can tell one launch from another: use thread and block indices");
      }
    };
    if (s.predicate != kNone) check(s.predicate);
    for (std::uint32_t k = 0; k < s.count; ++k) {
      const Operand& operand = module.operands_of(s)[k];
      for (std::uint32_t n = operand.first; n < operand.first + operand.count; ++n) check(module.names[n]);
    }
  });
}

}  // namespace kagent::lint
