// Fuzz entry for the PTX lint. With clang: cmake -DCMAKE_CXX_COMPILER=clang++ -DKAGENT_FUZZ=ON, then bin/fuzz_ptx_lint.
// In every build it is part of the unit tests, fed with mutations of good PTX (tests/harness/lint/hostile_test.cpp).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "harness/lint/lint.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kagent::lint;
  const Report report = lint({reinterpret_cast<const char*>(data), size});
  require(report.findings.size() <= 500);
  for (const Finding& one : report.findings) {
    require(!one.rule.empty() && !one.what.empty() && one.what.size() < 1000);
    for (const char c : one.what + one.kernel) require(c >= ' ' && c < 127);  // one line, whatever the PTX says
  }
  require(std::is_sorted(report.arithmetic.begin(), report.arithmetic.end()));
  (void)to_json(report).dump();
  return 0;
}
