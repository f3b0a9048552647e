// GPU activity by CUPTI: which kernels ran, for how long, and for which plan step. Never used in a timed run.
//
// CUPTI is taken at run time (already loaded by torch, or by its name), so a machine without it still loads the
// harness. Source: CUPTI activity API, kernel records and external correlation (docs.nvidia.com/cupti).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kagent::profile {

struct Kernel {
  std::string name;  // demangled, template arguments shortened
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  int step = -1;  // plan step that launched it; -1 outside any
  int registers = 0;
  int static_shared_bytes = 0;
  int dynamic_shared_bytes = 0;
};

struct Recorded {
  std::vector<Kernel> kernels;  // in order of start
  std::string error;            // "" or one line that says why there is no profile
};

// Begins recording in this process. Returns "" or the reason why it cannot.
std::string start();

// Kernels launched between begin and end belong to that step. No-ops while nothing records; steps do not nest.
void begin_step(int step);
void end_step();

// Ends recording. The caller has synchronised the device.
Recorded stop();

struct Row {
  std::string name;
  int step = -1;
  int count = 0;        // launches a call
  double total_ms = 0;  // a call
  double share = 0;     // of all kernels' time, 0 to 1
};

// Kernels summed by name and step, largest first. `calls`: how many equal calls were recorded (at least 1).
std::vector<Row> table(const std::vector<Kernel>& kernels, int calls);

// A kernel's name for people: demangled, without parameter list, nested template arguments cut, at most 160 characters.
std::string readable_name(const std::string& mangled);

}  // namespace kagent::profile
