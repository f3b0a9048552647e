// Shuts a process off before it runs model-written code: Landlock (files, TCP, signals) and seccomp (system calls),
// both or nothing.
//
// After seal() the process and its threads can read beneath `readable`, read and write beneath `writable`, use the
// descriptors they hold, compute and exit. They cannot open anything else, make sockets, start programs or processes,
// change limits or look at other processes. The caller closes descriptors that must not be used. There is no way back.
// Sources: landlock(7), seccomp(2); syscall list checked against glibc 2.36-2.39, CPython 3.11/3.12, torch 2.11 and
// NVRTC 13.0.
#pragma once

#include <string>
#include <vector>

namespace kagent::seal {

struct Rules {
  std::vector<std::string> readable;  // files and folders; missing ones are skipped
  std::vector<std::string> writable;  // folders
  // Programs and folders of programs that may be started (readable, too). With any, exec is allowed.
  std::vector<std::string> executable;
  long cpu_seconds = 60;
  long memory_bytes = 0;        // of address space; 0: no limit
  long file_bytes = 64L << 20;  // a single file
  bool allow_fork = false;      // new processes
  bool map_executable = false;  // libraries may be loaded later (NVRTC loads its builtins)
};

struct Outcome {
  bool sealed = false;
  std::string how;    // "landlock abi 7 + seccomp"
  std::string error;  // why not, one line
};

// When not sealed the process may be half shut off: the caller must exit.
Outcome seal(const Rules& rules);

// Whether seal() can work here, tried in a child process.
Outcome probe();

}  // namespace kagent::seal
