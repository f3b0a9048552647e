// What every rule works on, and the rules (docs/lint.md).
#pragma once

#include <set>
#include <string>
#include <tuple>

#include "harness/lint/flow.h"
#include "harness/lint/lint.h"
#include "harness/lint/ptx.h"

namespace kagent::lint {

// Collects findings: each kind once a kernel, all together no more than kMaxFindings.
class Findings {
 public:
  Findings(const Module& module, Report& report) : module_(module), report_(report) {}

  void add(std::string_view rule, Level level, const std::string& what);  // of the module
  void add(std::string_view rule, Level level, const Function& f, const Statement& s, const std::string& what);
  bool arithmetic(std::string_view word) { return words_.emplace(word).second; }  // true at the first time
  void finish();                                                                  // sorts, writes the words

 private:
  const Module& module_;
  Report& report_;
  std::set<std::tuple<std::string, std::string, std::string>> seen_;
  std::set<std::string> words_;
};

// A name as a message shows it: printable, bounded.
std::string shown(std::string_view name);

void module_state(const Module& module, const Flow& flow, Findings& out);
void outside_values(const Module& module, const Flow& flow, Findings& out);
void special_registers(const Module& module, Findings& out);
void calls(const Module& module, Findings& out);
void hints(const Module& module, Findings& out);
void leftovers(const Module& module, const Flow& flow, Findings& out);
void precision(const Module& module, Findings& out);

// Calls visit(function, statement, index) for every statement of every function.
template <typename Visit>
void each_statement(const Module& module, Visit visit) {
  for (const Function& f : module.functions) {
    for (std::size_t i = f.first; i < f.first + f.count; ++i) visit(f, module.statements[i], i);
  }
}

}  // namespace kagent::lint
