#include "agent/command/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/base/json_text.h"
#include "agent/command/baselines_text.h"
#include "agent/judge/baselines.h"

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

std::string time_row(const std::string& name, const json& timed, int width) {
  const json ms = child(timed, "ms");
  if (!ms.contains("mean")) {
    return text(timed, "note").empty() ? ""
                                       : fmt::format("  {:<{}} not measured: {}\n", name, width, text(timed, "note"));
  }
  std::string row = fmt::format("  {:<{}} {:>9.4f} {:>9.4f}", name, width, number(ms, "mean"), number(ms, "median"));
  const json speedup = child(timed, "speedup");
  if (speedup.contains("low")) {
    row += fmt::format("   {:>6.3f}x  [{:.3f}, {:.3f}]   ", number(speedup, "ratio"), number(speedup, "low"),
                       number(speedup, "high"));
  } else if (speedup.contains("ratio")) {  // from the cache: not timed beside the candidate
    row += fmt::format("   {:>6.3f}x  {:<15}  ", number(speedup, "ratio"), "not side by side");
  } else {
    row += std::string(33, ' ');
  }
  row += fmt::format("{:.1f} MB", number(timed, "peak_bytes") / 1e6);
  if (const std::string words = official_words(timed); !words.empty()) row += "   " + words + " the official check";
  return row + "\n";
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
  std::string kind = text(v, "kind");
  std::replace(kind.begin(), kind.end(), '_', ' ');
  line += " at " + text(v, "stage");
  if (kind != text(v, "reason")) line += fmt::format(" ({})", text(v, "kind"));
  line += "\n  " + text(v, "reason");
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
    const json baselines = child(v, "baselines");
    const int width = baselines.contains(kCompiledKinds.back()) ? 23 : 14;
    out += fmt::format("  {:<{}} {:>9} {:>9}   speed-up  95% interval       peak memory\n", "", width, "mean ms",
                       "median ms");
    out += time_row("candidate", child(v, "candidate"), width);
    for (const char* name : kReferenceKinds) out += time_row(name, child(baselines, name), width);
    for (const char* name : kCompiledKinds) out += time_row(name, child(baselines, name), width);
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
