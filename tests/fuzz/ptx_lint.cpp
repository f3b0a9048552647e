// The PTX lint: no finding forges a line, none is endless, all are JSON.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "harness/lint/lint.h"
#include "tests/fuzz/require.h"

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
