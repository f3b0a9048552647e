// PTX as the rules see it: symbols, functions, statements. Names are resolved by scope: one Symbol per declaration.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kagent::lint {

inline constexpr int kNone = -1;

struct Symbol {
  enum class Kind { kUnknown, kRegister, kSpecial, kGlobal, kConst, kShared, kLocal, kParam, kFunction, kLabel };
  std::string_view name;
  Kind kind = Kind::kUnknown;
  bool initialised = false;
  bool external = false;
  std::vector<int> initial;  // symbols that the initial value names
  std::optional<int> function;

  [[nodiscard]] bool module_state() const { return kind == Kind::kGlobal || kind == Kind::kConst; }
};

struct Operand {
  std::string_view text;
  bool memory = false;  // [a], [a+4], a[4]
  bool group = false;   // (a, b) of a call
  std::uint32_t first = 0;
  std::uint32_t count = 0;  // symbols[first, first + count)
};

struct Statement {
  std::string_view opcode;  // "ld.global.f32"; "" where only labels stand
  int predicate = kNone;    // symbol
  int place = kNone;        // index of a Place
  int scope = 0;            // the braces that it stands in
  std::uint32_t first = 0;
  std::uint32_t count = 0;  // operands[first, first + count)
  bool labelled = false;

  [[nodiscard]] std::string_view base() const { return opcode.substr(0, opcode.find('.')); }
};

struct Label {
  std::string_view name;
  int scope = 0;
  std::uint32_t statement = 0;  // the one that it stands before
};

struct Function {
  std::string_view name;
  bool entry = false;
  int symbol = kNone;
  std::vector<int> results;     // symbols
  std::vector<int> parameters;  // symbols
  std::uint32_t first = 0;
  std::uint32_t count = 0;  // statements[first, first + count)
  std::vector<Label> labels;
  std::vector<Label> branch_targets;  // of .branchtargets lists
};

// A .loc: where the code comes from, and from which place that was inlined.
struct Place {
  int file = 0;
  int line = 0;
  int column = 0;
  int from = kNone;  // index of a Place
};

struct Module {
  std::deque<std::string> texts;  // what every string_view points into; the first is the whole PTX, bare
  std::vector<Symbol> symbols;
  std::vector<int> names;  // symbols of operands
  std::vector<Operand> operands;
  std::vector<Statement> statements;
  std::vector<Function> functions;
  std::vector<Place> places;
  std::vector<int> around;              // the scope that a scope stands in; kNone for the module's
  int answer_file = kNone;              // number of the .file that is the answer
  std::vector<std::string> unreadable;  // what this reader does not know

  [[nodiscard]] const Operand* operands_of(const Statement& s) const { return operands.data() + s.first; }
  [[nodiscard]] std::optional<int> line_of(const Statement& s) const;
};

Module read_ptx(std::string_view ptx);

}  // namespace kagent::lint
