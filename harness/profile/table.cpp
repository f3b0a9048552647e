#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "harness/profile/profile.h"

namespace kagent::profile {
namespace {

constexpr std::size_t kMaxName = 160;
constexpr int kKeptTemplateDepth = 1;

}  // namespace

std::string readable_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  const std::string full = status == 0 && demangled ? demangled.get() : mangled;
  std::string out;
  int depth = 0;  // of < >
  for (std::size_t i = 0; i < full.size() && out.size() < kMaxName; ++i) {
    const char c = full[i];
    // The parameter list begins at the first parenthesis outside templates that is no "(anonymous namespace)" or
    // "(type)value".
    if (c == '(' && depth == 0 && full.compare(i, 21, "(anonymous namespace)") != 0) break;
    if (c == '>') --depth;
    if (depth <= kKeptTemplateDepth) out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    if (c == '<') ++depth;
  }
  if (out.starts_with("void ")) out.erase(0, 5);
  if (out.size() >= kMaxName) out = out.substr(0, kMaxName - 3) + "...";
  return out;
}

std::vector<Row> table(const std::vector<Kernel>& kernels, int calls) {
  std::map<std::pair<std::string, int>, Row> rows;
  double all_ms = 0;
  for (const Kernel& kernel : kernels) {
    Row& row = rows[{kernel.name, kernel.step}];
    row.name = kernel.name;
    row.step = kernel.step;
    row.count += 1;
    const double ms = kernel.end_ns > kernel.start_ns ? static_cast<double>(kernel.end_ns - kernel.start_ns) / 1e6 : 0;
    row.total_ms += ms;
    all_ms += ms;
  }
  std::vector<Row> out;
  for (auto& [key, row] : rows) {
    row.share = all_ms > 0 ? row.total_ms / all_ms : 0;
    row.total_ms /= calls;
    row.count = (row.count + calls / 2) / calls;
    out.push_back(row);
  }
  std::stable_sort(out.begin(), out.end(), [](const Row& a, const Row& b) { return a.total_ms > b.total_ms; });
  return out;
}

}  // namespace kagent::profile
