// Small PTX for tests: a module of one kernel around a body.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/lint/lint.h"

namespace kagent::lint {

inline constexpr const char* kHead = ".version 9.0\n.target sm_90a\n.address_size 64\n";
inline constexpr const char* kRegisters =
    ".reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n.shared .align 8 .b8 box[64];\n"
    ".local .align 8 .b8 own[64];\nld.param.u64 %rd1, [k_x];\n";

inline std::string kernel(const std::string& body, const std::string& name = "k") {
  return ".visible .entry " + name + "(.param .u64 k_x)\n{\n" + kRegisters + body + "\nret;\n}\n";
}

// A kernel with `body`, after declarations of the module.
inline Report lint_of(const std::string& body, const std::string& module = ".global .align 4 .u32 counter;\n") {
  return lint(kHead + module + kernel(body));
}

// "reject module_state", sorted by level; notes only if asked for.
inline std::vector<std::string> said(const Report& report, bool notes = false) {
  static constexpr const char* kLevels[] = {"reject ", "flag ", "note "};
  std::vector<std::string> out;
  for (const Finding& one : report.findings) {
    if (one.level != Level::kNote || notes) out.push_back(kLevels[static_cast<int>(one.level)] + one.rule);
  }
  return out;
}

inline std::vector<std::string> rejected(const Report& report) {
  std::vector<std::string> out;
  for (const Finding& one : report.findings) {
    if (one.level == Level::kReject) out.push_back(one.rule);
  }
  return out;
}

}  // namespace kagent::lint
