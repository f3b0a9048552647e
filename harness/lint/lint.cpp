#include "harness/lint/lint.h"

#include <algorithm>

#include "harness/lint/rules.h"

namespace kagent::lint {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxFindings = 200;

}  // namespace

std::string shown(std::string_view name) {
  std::string out(name.substr(0, 120));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return name.size() > 120 ? out + "..." : out;
}

void Findings::add(std::string_view rule, Level level, const std::string& what) {
  if (seen_.size() >= kMaxFindings && level != Level::kReject) return;
  if (report_.findings.size() >= 2 * kMaxFindings || !seen_.emplace(rule, "", what).second) return;
  report_.findings.push_back({std::string(rule), level, "", what, std::nullopt});
}

void Findings::add(std::string_view rule, Level level, const Function& f, const Statement& s, const std::string& what) {
  if (seen_.size() >= kMaxFindings && level != Level::kReject) return;
  if (report_.findings.size() >= 2 * kMaxFindings) return;
  std::string kernel = shown(f.name);
  if (!seen_.emplace(rule, kernel, what).second) return;
  report_.findings.push_back({std::string(rule), level, std::move(kernel), what, module_.line_of(s)});
}

void Findings::finish() {
  std::stable_sort(report_.findings.begin(), report_.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.level < b.level; });
  report_.arithmetic.assign(words_.begin(), words_.end());
}

Report lint(std::string_view ptx) {
  Report report;
  if (ptx.size() > kMaxBytes) {
    report.findings.push_back({"unreadable", Level::kReject, "",
                               "the PTX is larger than 64 MiB: unroll less, instantiate fewer templates",
                               std::nullopt});
    return report;
  }
  const Module module = read_ptx(ptx);
  Findings out(module, report);
  for (const std::string& what : module.unreadable) {
    out.add("unreadable", Level::kReject,
            "the PTX has what the lint cannot read (" + shown(what) + "): inline asm must be plain instructions");
  }
  const Flow flow(module);
  module_state(module, flow, out);
  outside_values(module, flow, out);
  special_registers(module, out);
  calls(module, out);
  hints(module, out);
  leftovers(module, flow, out);
  precision(module, out);
  out.finish();
  return report;
}

nlohmann::json to_json(const Report& report) {
  static constexpr const char* kLevels[] = {"reject", "flag", "note"};
  nlohmann::json findings = nlohmann::json::array();
  for (const Finding& one : report.findings) {
    findings.push_back({{"rule", one.rule},
                        {"level", kLevels[static_cast<int>(one.level)]},
                        {"kernel", one.kernel},
                        {"what", one.what},
                        {"line", one.line ? nlohmann::json(*one.line) : nlohmann::json()}});
  }
  return {{"findings", findings}, {"arithmetic", report.arithmetic}};
}

}  // namespace kagent::lint
