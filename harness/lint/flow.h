// Where addresses of module variables, timers and the driver's workspace flow: reachability over a graph whose nodes
// are symbols, statements, spaces of memory and, where it matters, the control of basic blocks. Flow-insensitive: a
// register that holds such a value anywhere holds it everywhere.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harness/lint/opcode.h"
#include "harness/lint/ptx.h"

namespace kagent::lint {

// Kinds of values.
inline constexpr std::uint8_t kAddress = 1;    // of a module-scope variable
inline constexpr std::uint8_t kTable = 2;      // of a variable whose initial value has addresses of others
inline constexpr std::uint8_t kTimer = 4;      // of a clock
inline constexpr std::uint8_t kWorkspace = 8;  // of, or in, the driver's grid workspace (%envreg1, %envreg2)
inline constexpr std::uint8_t kTables = 16;    // of a variable whose initial value has addresses of tables
inline constexpr std::uint8_t kOutside = kTimer | kWorkspace;

inline constexpr int kKinds = 5;

// What a value is, and the symbol that it came from, by kind.
struct Mark {
  std::uint8_t bits = 0;
  std::array<int, kKinds> origin = {kNone, kNone, kNone, kNone, kNone};

  // Takes kinds that are new here from another; true if any were.
  bool take(std::uint8_t kinds, const Mark& from);
};

class Flow {
 public:
  explicit Flow(const Module& module);

  [[nodiscard]] const Mark& symbol(int id) const { return marks_[static_cast<std::size_t>(id)]; }
  // Marks of an operand's symbols together.
  [[nodiscard]] Mark operand(const Operand& operand) const;
  // What decides whether the statement runs: its predicate and the branches around it.
  [[nodiscard]] Mark control(std::size_t statement) const;
  // What a copy out of shared memory may carry.
  [[nodiscard]] const Mark& shared() const { return marks_[shared_]; }
  [[nodiscard]] const Effect& effect(std::size_t statement) const { return effects_[statement]; }
  // False if control flow was too tangled to be followed: then every statement counts as decided by what is outside.
  [[nodiscard]] bool followed() const { return followed_; }

 private:
  enum class Along : std::uint8_t { kCopy, kLoad, kControl, kStoreAddress };
  struct Edge {
    std::uint32_t from;
    std::uint32_t to;
    Along along;
  };

  std::uint32_t statement_node(std::size_t i) const { return static_cast<std::uint32_t>(module_.symbols.size() + i); }
  void edge(std::size_t from, std::size_t to, Along along);
  void seed();
  void connect(const Function& f, std::uint32_t carry);
  void connect_call(std::size_t i);
  void connect_memory(std::size_t i);
  void connect_control();
  void solve();

  const Module& module_;
  std::vector<Effect> effects_;  // by statement
  std::vector<Mark> marks_;      // by node
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> control_;  // node of the block that a statement is in, by statement; empty without timers
  std::uint32_t shared_ = 0;
  std::uint32_t local_ = 0;
  std::uint32_t param_ = 0;
  std::uint32_t indirect_ = 0;  // arguments and results of calls through pointers
  bool any_indirect_ = false;
  bool followed_ = true;
};

// The special registers that carry time, or the driver's workspace.
std::uint8_t outside_kind(std::string_view special);

}  // namespace kagent::lint
