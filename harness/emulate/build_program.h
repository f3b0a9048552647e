// Builds an answer's kernels into a program for this CPU: a C++ compiler, sealed, on the translated text.
#pragma once

#include <string>
#include <vector>

#include "harness/compile/source.h"

namespace kagent::emulate {

struct BuildOptions {
  std::vector<std::string> include;  // ours first, then CUDA's
  std::string runtime;               // folder of shared_begin.o, shared_end.o and runtime.o
  bool checking = false;             // every access seen; several times slower
};

struct Program {
  std::string bytes;   // the program; empty: see the rest
  std::string reason;  // why it cannot be emulated, for the answer's author
  int line = 0;        // of the answer; 0: no one line
  std::string error;   // kagent's or the machine's fault
  std::string log;     // the compiler's
};

Program build_program(const BuildOptions& options, const compile::Source& source,
                      const std::vector<std::string>& names);

// Part of a cache's key: the compiler, its flags and the CPU they fit.
std::string build_key(const BuildOptions& options);

}  // namespace kagent::emulate
