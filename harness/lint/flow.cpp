#include "harness/lint/flow.h"

#include <algorithm>
#include <utility>

#include "harness/lint/control.h"

namespace kagent::lint {

std::uint8_t outside_kind(std::string_view special) {
  if (special.starts_with("%clock") || special.starts_with("%globaltimer")) return kTimer;
  if (special == "%envreg1" || special == "%envreg2") return kWorkspace;
  return 0;
}

bool Mark::take(std::uint8_t kinds, const Mark& from) {
  const auto fresh = static_cast<std::uint8_t>(kinds & ~bits);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if ((fresh >> kind & 1) != 0) origin[kind] = from.origin[kind];
  }
  bits |= fresh;
  return fresh != 0;
}

Flow::Flow(const Module& module) : module_(module) {
  effects_.reserve(module.statements.size());
  for (const Statement& s : module.statements) effects_.push_back(effect_of(module, s));
  // Nodes: symbols, statements, spaces, a carry flag for each function; control's come after.
  std::size_t nodes = module.symbols.size() + module.statements.size();
  for (std::uint32_t* space : {&shared_, &local_, &param_, &indirect_}) *space = static_cast<std::uint32_t>(nodes++);
  const std::size_t carry = nodes;
  marks_.resize(nodes + module.functions.size());
  seed();
  for (std::size_t f = 0; f < module.functions.size(); ++f)
    connect(module.functions[f], static_cast<std::uint32_t>(carry + f));
  const bool outside = std::any_of(module.symbols.begin(), module.symbols.end(),
                                   [](const Symbol& symbol) { return outside_kind(symbol.name) != 0; });
  if (outside) connect_control();
  solve();
}

void Flow::edge(std::size_t from, std::size_t to, Along along) {
  edges_.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), along});
}

void Flow::seed() {
  const auto holds_addresses = [&](const Symbol& symbol) {
    return std::any_of(symbol.initial.begin(), symbol.initial.end(),
                       [&](int named) { return module_.symbols[static_cast<std::size_t>(named)].module_state(); });
  };
  std::vector<char> table(module_.symbols.size(), 0);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = holds_addresses(module_.symbols[i]) ? 1 : 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Symbol& symbol = module_.symbols[i];
    Mark& mark = marks_[i];
    if (symbol.module_state()) mark.bits |= kAddress;
    if (table[i] != 0) mark.bits |= kTable;
    for (const int named : symbol.initial) mark.bits |= table[static_cast<std::size_t>(named)] != 0 ? kTables : 0;
    mark.bits |= outside_kind(symbol.name);
    mark.origin.fill(static_cast<int>(i));
  }
}

void Flow::connect(const Function& f, std::uint32_t carry) {
  for (std::size_t i = f.first; i < f.first + f.count; ++i) {
    const Statement& s = module_.statements[i];
    const std::uint32_t node = statement_node(i);
    if (s.predicate != kNone) edge(static_cast<std::size_t>(s.predicate), node, Along::kControl);
    if (s.base() == "call") {
      connect_call(i);
      continue;
    }
    if (effects_[i].touches_memory) connect_memory(i);
    const Operand* operands = module_.operands_of(s);
    for (std::uint32_t k = 0; k < s.count; ++k) {
      const bool result = k == 0 && !operands[k].memory && !effects_[i].branches;
      const Along along = !operands[k].memory || !effects_[i].touches_memory || s.base() == "mov" ||
                                  s.base() == "cvta" || s.base() == "mapa"
                              ? Along::kCopy
                          : effects_[i].writes_operand(k) ? Along::kStoreAddress
                                                          : Along::kLoad;
      for (std::uint32_t n = operands[k].first; n < operands[k].first + operands[k].count; ++n) {
        const auto symbol = static_cast<std::size_t>(module_.names[n]);
        if (result) edge(node, symbol, Along::kCopy);
        if (!result) edge(symbol, node, along);
      }
    }
    const std::string_view base = s.base();
    if (has_part(s.opcode, "cc")) edge(node, carry, Along::kCopy);
    if (base == "addc" || base == "subc" || base == "madc") edge(carry, node, Along::kCopy);
  }
}

// Values pass through memory that only this kernel's threads share; .param memory is a set of named places.
void Flow::connect_memory(std::size_t i) {
  const Statement& s = module_.statements[i];
  const Effect& effect = effects_[i];
  const std::uint32_t node = statement_node(i);
  const Operand* operands = module_.operands_of(s);
  const bool loads = !effect.writes || s.base() == "atom" || effect.copies;
  if (effect.space == Space::kParam) {
    for (std::uint32_t k = 0; k < s.count; ++k) {
      if (!operands[k].memory) continue;
      for (std::uint32_t n = operands[k].first; n < operands[k].first + operands[k].count; ++n) {
        const auto place = static_cast<std::size_t>(module_.names[n]);
        const bool named = module_.symbols[place].kind == Symbol::Kind::kParam;
        const std::size_t memory = named ? place : param_;
        effect.writes ? edge(node, memory, Along::kCopy) : edge(memory, node, Along::kCopy);
        if (!named) edge(place, node, Along::kLoad);
      }
    }
    if (!effect.writes) edge(param_, node, Along::kCopy);
    return;
  }
  for (const auto& [space, memory] : {std::pair{Space::kShared, shared_}, std::pair{Space::kLocal, local_}}) {
    const bool here = effect.space == space;
    if (effect.writes && here) edge(node, memory, Along::kCopy);
    if (loads && !effect.copies && (here || effect.space == Space::kGeneric)) edge(memory, node, Along::kCopy);
  }
  if (effect.copies && effect.from_shared) edge(shared_, node, Along::kCopy);
}

// call (results), target, (arguments), prototype;
void Flow::connect_call(std::size_t i) {
  const Statement& s = module_.statements[i];
  const Operand* operands = module_.operands_of(s);
  const auto symbols = [&](std::uint32_t k) {
    return std::pair{module_.names.data() + operands[k].first, operands[k].count};
  };
  const std::uint32_t target = s.count > 0 && operands[0].group ? 1 : 0;
  if (target >= s.count || operands[target].count == 0) return;
  const Symbol& called = module_.symbols[static_cast<std::size_t>(*symbols(target).first)];
  const Function* f = called.kind == Symbol::Kind::kFunction && called.function
                          ? &module_.functions[static_cast<std::size_t>(*called.function)]
                          : nullptr;
  const bool through_pointer = called.kind != Symbol::Kind::kFunction;
  const std::uint32_t node = statement_node(i);
  if (target == 1) {
    const auto [results, count] = symbols(0);
    for (std::uint32_t k = 0; k < count; ++k) {
      edge(node, static_cast<std::size_t>(results[k]), Along::kControl);
      if (f != nullptr && k < f->results.size())
        edge(static_cast<std::size_t>(f->results[k]), static_cast<std::size_t>(results[k]), Along::kCopy);
      if (through_pointer) edge(indirect_, static_cast<std::size_t>(results[k]), Along::kCopy);
    }
  }
  if (target + 1 < s.count && operands[target + 1].group) {
    const auto [arguments, count] = symbols(target + 1);
    for (std::uint32_t k = 0; k < count; ++k) {
      if (f != nullptr && k < f->parameters.size())
        edge(static_cast<std::size_t>(arguments[k]), static_cast<std::size_t>(f->parameters[k]), Along::kCopy);
      if (through_pointer) edge(static_cast<std::size_t>(arguments[k]), indirect_, Along::kCopy);
    }
  }
  if (!through_pointer || std::exchange(any_indirect_, true)) return;
  for (const Function& any : module_.functions) {
    if (any.entry) continue;
    for (const int parameter : any.parameters) edge(indirect_, static_cast<std::size_t>(parameter), Along::kCopy);
    for (const int result : any.results) edge(static_cast<std::size_t>(result), indirect_, Along::kCopy);
  }
}

// Branches on what is outside mark everything that they decide.
void Flow::connect_control() {
  control_.assign(module_.statements.size(), 0);
  std::vector<std::uint32_t> entered;  // control node of each function
  for (std::size_t f = 0; f < module_.functions.size(); ++f) {
    entered.push_back(static_cast<std::uint32_t>(marks_.size()));
    marks_.emplace_back();
  }
  for (std::size_t f = 0; f < module_.functions.size(); ++f) {
    const Function& function = module_.functions[f];
    const Blocks blocks = blocks_of(module_, function);
    const auto first = static_cast<std::uint32_t>(marks_.size());
    marks_.resize(marks_.size() + blocks.first.size());
    const Dependence dependence = control_dependence(blocks);
    followed_ = followed_ && dependence.followed;
    for (std::uint32_t b = 0; b < blocks.first.size(); ++b) edge(entered[f], first + b, Along::kControl);
    for (std::size_t i = function.first; i < function.first + function.count; ++i) {
      control_[i] = first + blocks.of[i - function.first];
      edge(control_[i], statement_node(i), Along::kControl);
      const Statement& s = module_.statements[i];
      if (s.base() != "call") continue;
      for (std::uint32_t k = 0; k < s.count && k < 2; ++k) {
        const Operand& target = module_.operands_of(s)[k];
        if (target.group || target.count == 0) continue;
        const Symbol& called = module_.symbols[static_cast<std::size_t>(module_.names[target.first])];
        if (called.function)
          edge(statement_node(i), entered[static_cast<std::size_t>(*called.function)], Along::kControl);
      }
    }
    for (const auto& [branch, block] : dependence.pairs)
      edge(statement_node(function.first + blocks.last[branch]), first + block, Along::kControl);
  }
}

void Flow::solve() {
  std::vector<std::uint32_t> begin(marks_.size() + 1, 0);
  for (const Edge& e : edges_) ++begin[e.from + 1];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<std::uint32_t> order(edges_.size());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::uint32_t i = 0; i < edges_.size(); ++i) order[next[edges_[i].from]++] = i;
  std::vector<std::uint32_t> work;
  for (std::uint32_t i = 0; i < marks_.size(); ++i) {
    if (marks_[i].bits != 0) work.push_back(i);
  }
  while (!work.empty()) {  // each node comes back at most once for each bit
    const std::uint32_t at = work.back();
    work.pop_back();
    for (std::uint32_t k = begin[at]; k < begin[at + 1]; ++k) {
      const Edge& e = edges_[order[k]];
      const Mark& from = marks_[at];
      std::uint8_t kinds = from.bits;
      if (e.along == Along::kLoad) {
        kinds &= kOutside;
        if ((from.bits & kTable) != 0) kinds |= kAddress;
        if ((from.bits & kTables) != 0) kinds |= kAddress | kTable | kTables;
      }
      if (e.along == Along::kControl) kinds &= kOutside;
      if (e.along == Along::kStoreAddress) kinds &= kWorkspace;  // what an atomic returns of it
      if (marks_[e.to].take(kinds, from)) work.push_back(e.to);
    }
  }
}

Mark Flow::operand(const Operand& operand) const {
  Mark out;
  for (std::uint32_t n = operand.first; n < operand.first + operand.count; ++n) {
    const Mark& one = marks_[static_cast<std::size_t>(module_.names[n])];
    out.take(one.bits, one);
  }
  return out;
}

Mark Flow::control(std::size_t statement) const {
  const Statement& s = module_.statements[statement];
  Mark out;
  if (s.predicate != kNone) {
    const Mark& predicate = marks_[static_cast<std::size_t>(s.predicate)];
    out.take(predicate.bits & kOutside, predicate);
  }
  if (!control_.empty()) out.take(marks_[control_[statement]].bits & kOutside, marks_[control_[statement]]);
  return out;
}

}  // namespace kagent::lint
