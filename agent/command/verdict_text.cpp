#include "agent/command/verdict_text.h"

#include <fmt/format.h>

#include "agent/base/json_text.h"

namespace kagent {
namespace {

using nlohmann::json;

std::string text(const json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

double number(const json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<double>() : 0;
}

json child(const json& object, const char* key) {
  if (!object.is_object()) return json::object();
  const auto it = object.find(key);
  return it != object.end() ? *it : json::object();
}

std::string time_row(const std::string& name, const json& timed) {
  const json ms = child(timed, "ms");
  if (!ms.contains("mean")) {
    return text(timed, "note").empty() ? "" : fmt::format("  {:<14} not measured: {}\n", name, text(timed, "note"));
  }
  std::string row = fmt::format("  {:<14} {:>9.4f} {:>9.4f}", name, number(ms, "mean"), number(ms, "median"));
  const json speedup = child(timed, "speedup");
  if (speedup.contains("ratio")) {
    row += fmt::format("   {:>6.3f}x  [{:.3f}, {:.3f}]", number(speedup, "ratio"), number(speedup, "low"),
                       number(speedup, "high"));
  }
  return row + fmt::format("{}{:.1f} MB\n", speedup.contains("ratio") ? "   " : std::string(33, ' '),
                           number(timed, "peak_bytes") / 1e6);
}

std::string head(const json& v) {
  std::string line = fmt::format("{}: {}", text(v, "task"), text(v, "outcome"));
  if (text(v, "backend") == "emulate" && text(v, "outcome") == "accepted")
    return line + " by emulation: right on this CPU; speed needs a GPU\n";
  if (text(v, "outcome") == "accepted") {
    const bool faster = flag_or(v, "faster", false);
    line += faster ? " and faster" : ", not faster";
    if (faster && !flag_or(v, "counts", true)) line += ", but does not count";  // old verdicts say nothing of it
    if (text(child(v, "plan"), "tier") == "any") line += " (tier any)";
  }
  if (text(v, "stage").empty()) return line + "\n";
  line += fmt::format(" at {} ({})\n  {}", text(v, "stage"), text(v, "kind"), text(v, "reason"));
  if (v.contains("line") && v["line"].is_number_integer()) {
    line += fmt::format("\n  line {} of the {} block", v["line"].get<int>(), text(v, "block"));
  }
  return line + "\n";
}

}  // namespace

std::string verdict_text(const nlohmann::json& v) {
  std::string out = head(v);
  for (const json& error : child(child(v, "compile"), "errors")) {
    if (text(error, "message") == text(v, "reason")) continue;  // the first error is the reason
    out += fmt::format("  cuda line {:.0f}: {}\n", number(error, "line"), text(error, "message"));
  }
  if (child(v, "candidate").contains("ms")) {
    out += fmt::format("  {:<14} {:>9} {:>9}   speed-up  95% interval       peak memory\n", "", "mean ms", "median ms");
    out += time_row("candidate", child(v, "candidate"));
    for (const char* name : {"eager", "graphed_eager", "null_plan"})
      out += time_row(name, child(child(v, "baselines"), name));
  }
  for (const json& rule : child(v, "rules")) {
    if (text(v, "outcome") == "accepted" && text(rule, "rule") == "precision_tier" && text(rule, "outcome") == "flag")
      out += "  precision: " + text(rule, "what") + "\n";
  }
  for (const json& warning : child(v, "warnings")) {
    if (warning.is_string()) out += "  note: " + warning.get<std::string>() + "\n";
  }
  return out;
}

}  // namespace kagent
