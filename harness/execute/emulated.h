// Launches on a machine without a GPU: a sealed process runs the kernels, compiled for the CPU (harness/emulate), on
// tensors in memory that it shares with this one. Nothing of the answer's runs here.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/emulate/runtime/wire.h"
#include "harness/plan/kernels.h"
#include "harness/plan/pack.h"
#include "harness/plan/plan.h"

namespace kagent::execute {

struct Emulation {
  std::string starter;             // kagent-emulate
  std::string program;             // built by kagent-compile's `emulate`
  std::vector<std::string> names;  // its kernels, in order
  double deadline_s = 60;          // a launch
};

// The process. Throws RunError: not_emulable, hang, illegal_access, deadlock, ... with kernel, block and thread in
// words.
class EmulatedProgram {
 public:
  explicit EmulatedProgram(Emulation emulation);
  ~EmulatedProgram();
  EmulatedProgram(const EmulatedProgram&) = delete;
  EmulatedProgram& operator=(const EmulatedProgram&) = delete;

  // The kernel's index in the program.
  [[nodiscard]] std::uint32_t index_of(const std::string& kernel) const;

  // Memory that a launch may touch, once for each storage.
  struct Piece {
    char* here = nullptr;  // in this process
    std::size_t bytes = 0;
    bool writable = false;
    std::uint32_t argument = 0;  // of the launch, the first that points there
  };
  // An address of that process goes at `offset`: `at` bytes into a piece.
  struct Pointer {
    std::size_t offset = 0;
    std::size_t piece = 0;
    std::size_t at = 0;
  };
  struct Argument {
    std::vector<std::byte> bytes;
    std::vector<Pointer> pointers;
  };
  // Copies the pieces over, runs, copies back what may have been written.
  void launch(emulate::Launch launch, const std::vector<Argument>& arguments, const std::vector<Piece>& pieces,
              const std::string& kernel, std::optional<int> line);

 private:
  void receive(void* to, std::size_t bytes, const std::string& kernel, std::optional<int> line);
  [[noreturn]] void fail(const emulate::Report& report, const std::string& kernel, std::optional<int> line);

  Emulation emulation_;
  int process_ = -1;
  int socket_ = -1;
  int memory_ = -1;
  char* arena_ = nullptr;
  std::uint64_t arena_there_ = 0;  // its address in the process
};

class EmulatedLaunch {
 public:
  EmulatedLaunch(const plan::Launch& launch, const plan::Kernel& kernel, EmulatedProgram& program,
                 std::optional<int> line);
  // `last_first`: blocks begin in the opposite order.
  void run(const std::vector<at::Tensor>& environment, bool last_first);

 private:
  EmulatedProgram* program_;
  emulate::Launch launch_;
  std::vector<plan::PackedArg> arguments_;
  std::vector<bool> writable_;  // by argument: what it points to may be written to
  std::string kernel_;
  std::optional<int> line_;
};

}  // namespace kagent::execute
