#include "harness/lint/control.h"

#include <algorithm>
#include <map>

#include "harness/lint/opcode.h"

namespace kagent::lint {
namespace {

constexpr std::size_t kMaxSteps = 20'000'000;
constexpr std::size_t kMaxPairs = 4'000'000;
constexpr std::size_t kMaxIndirect = 1'000'000;
constexpr std::uint32_t kUnknown = 0xffffffff;

// A trap ends nothing here: libraries trap where a precondition fails, which decides nothing about what follows.
bool ends_block(const Statement& s) {
  const std::string_view base = s.base();
  return base == "bra" || base == "brx" || base == "ret" || base == "exit";
}

// Order of a depth-first search from the exit, against the edges; blocks that never reach it hang on it.
std::vector<std::uint32_t> postorder(const std::vector<std::vector<std::uint32_t>>& before, std::uint32_t exit,
                                     std::vector<std::uint32_t>& endless) {
  std::vector<std::uint32_t> order;
  std::vector<char> seen(before.size(), 0);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack;
  const auto walk = [&](std::uint32_t root) {
    seen[root] = 1;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [at, child] = stack.back();
      if (child < before[at].size()) {
        const std::uint32_t to = before[at][child++];
        if (seen[to] == 0) {
          seen[to] = 1;
          stack.emplace_back(to, 0);
        }
      } else {
        order.push_back(at);
        stack.pop_back();
      }
    }
  };
  // The exit's own tree must come last in the order: roots of endless loops are its children.
  seen[exit] = 1;
  for (const std::uint32_t root : before[exit]) {
    if (seen[root] == 0) walk(root);
  }
  for (std::uint32_t b = exit; b-- > 0;) {
    if (seen[b] != 0) continue;
    endless.push_back(b);
    walk(b);
  }
  order.push_back(exit);
  return order;
}

}  // namespace

Blocks blocks_of(const Module& module, const Function& f) {
  Blocks out;
  out.of.resize(f.count);
  bool fresh = true;
  for (std::uint32_t i = 0; i < f.count; ++i) {
    const Statement& s = module.statements[f.first + i];
    if (fresh || s.labelled) {
      out.first.push_back(i);
      out.last.push_back(i);
    }
    out.of[i] = static_cast<std::uint32_t>(out.first.size()) - 1;
    out.last.back() = i;
    fresh = ends_block(s);
  }
  out.exit = static_cast<std::uint32_t>(out.first.size());
  out.next.resize(out.exit);
  std::map<std::pair<int, std::string_view>, std::uint32_t> labels;
  for (const Label& label : f.labels) labels.try_emplace({label.scope, label.name}, out.of[label.statement - f.first]);
  // Labels belong to the braces that they stand in.
  const auto block_of = [&](int scope, std::string_view name) {
    for (; scope != kNone; scope = module.around[static_cast<std::size_t>(scope)]) {
      if (const auto found = labels.find({scope, name}); found != labels.end()) return found->second;
    }
    return kUnknown;
  };
  std::vector<std::uint32_t> listed;  // blocks of .branchtargets
  for (const Label& target : f.branch_targets) {
    if (const std::uint32_t block = block_of(target.scope, target.name); block != kUnknown) listed.push_back(block);
  }
  std::sort(listed.begin(), listed.end());
  listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
  std::size_t indirect = 0;
  for (std::uint32_t b = 0; b < out.exit; ++b) {
    const Statement& s = module.statements[f.first + out.last[b]];
    const std::string_view base = s.base();
    auto& next = out.next[b];
    if (base == "bra") {
      for (std::uint32_t k = 0; k < s.count; ++k) {
        const std::string_view text = module.operands_of(s)[k].text;
        const std::uint32_t block = block_of(s.scope, text.substr(0, text.find_last_not_of(" \n") + 1));
        if (block != kUnknown) next.push_back(block);
      }
    } else if (base == "brx") {
      indirect += listed.size();
      out.complete = out.complete && indirect < kMaxIndirect;
      if (out.complete) next = listed;
    } else if (base == "ret" || base == "exit") {
      next.push_back(out.exit);
    }
    if (!ends_block(s) || s.predicate != kNone || next.empty()) next.push_back(b + 1);
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
  }
  return out;
}

Dependence control_dependence(const Blocks& blocks) {
  Dependence out;
  std::vector<std::vector<std::uint32_t>> next = blocks.next;
  next.emplace_back();  // the exit's
  std::vector<std::vector<std::uint32_t>> before(next.size());
  for (std::uint32_t b = 0; b < blocks.exit; ++b) {
    for (const std::uint32_t to : next[b]) before[to].push_back(b);
  }
  std::vector<std::uint32_t> endless;
  const std::vector<std::uint32_t> order = postorder(before, blocks.exit, endless);
  for (const std::uint32_t b : endless) next[b].push_back(blocks.exit);
  std::vector<std::uint32_t> number(next.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;

  // Immediate postdominators (Cooper, Harvey and Kennedy).
  std::vector<std::uint32_t> above(next.size(), kUnknown);
  above[blocks.exit] = blocks.exit;
  std::size_t steps = 0;
  const auto meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b && steps < kMaxSteps) {
      ++steps;
      if (number[a] < number[b]) {
        a = above[a];
      } else {
        b = above[b];
      }
    }
    return a;
  };
  for (bool changed = true; changed && steps < kMaxSteps;) {
    changed = false;
    for (std::size_t i = order.size() - 1; i-- > 0;) {
      std::uint32_t found = kUnknown;
      for (const std::uint32_t to : next[order[i]]) {
        if (above[to] == kUnknown) continue;
        found = found == kUnknown ? to : meet(found, to);
      }
      steps += next[order[i]].size() + 1;
      if (found == above[order[i]]) continue;
      above[order[i]] = found;
      changed = true;
    }
  }
  for (std::uint32_t b = 0; b < blocks.exit && steps < kMaxSteps; ++b) {
    if (next[b].size() < 2) continue;
    for (const std::uint32_t to : next[b]) {
      for (std::uint32_t at = to; at != above[b] && at != blocks.exit && at != kUnknown; at = above[at]) {
        out.pairs.emplace_back(b, at);
        if (++steps >= kMaxSteps || out.pairs.size() >= kMaxPairs) break;
      }
    }
  }
  out.followed = blocks.complete && steps < kMaxSteps && out.pairs.size() < kMaxPairs;
  return out;
}

}  // namespace kagent::lint
