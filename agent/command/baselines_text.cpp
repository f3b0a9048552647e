#include "agent/command/baselines_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/base/json_text.h"
#include "agent/judge/baselines.h"

namespace kagent {
namespace {

using nlohmann::json;

// Where it fails: "fails (x3: 12 of 4000 outside)", the distribution with most of them.
std::string check_words(const json& baseline) {
  std::string words = official_words(baseline);
  const json official = object_in(baseline, "official");
  if (words.empty()) return text_or(official, "note", "not known");
  json worst;
  for (const json& d : array_in(official, "distributions")) {
    if (flag_or(d, "passed", true)) continue;
    if (worst.is_null() || integer_or(d, "violations", 0) > integer_or(worst, "violations", 0)) worst = d;
  }
  if (!worst.is_null())
    words += fmt::format(" (x{:g}: {} of {} outside)", number_or(worst, "scale", 1), integer_or(worst, "violations", 0),
                         integer_or(worst, "elements", 0));
  return words;
}

std::string row(const char* kind, const json& baseline) {
  const json ms = object_in(baseline, "ms");
  if (!ms.contains("mean")) return fmt::format("  {:<24} not measured: {}\n", kind, text_or(baseline, "note", ""));
  const json ratio = object_in(baseline, "over_eager");
  return fmt::format("  {:<24} {:>9.4f} {:>9.4f} {:>11} {:>9.1f} {:>9}  {}\n", kind, number_or(ms, "mean", 0),
                     number_or(ms, "median", 0),
                     ratio.contains("ratio") ? fmt::format("{:.3f}x", number_or(ratio, "ratio", 0)) : std::string(),
                     static_cast<double>(integer_or(baseline, "peak_bytes", 0)) / 1e6,
                     baseline.contains("compile_s") ? fmt::format("{:.1f}", number_or(baseline, "compile_s", 0)) : "",
                     check_words(baseline));
}

}  // namespace

std::string official_words(const json& baseline) {
  const json object = baseline.is_object() ? baseline : json::object();
  const auto passes = object.find("passes_official_check");
  if (passes == object.end() || !passes->is_boolean()) return "";
  return passes->get<bool>() ? "passes" : "fails";
}

std::string baselines_text(const json& entry) {
  const json key = object_in(entry, "key");
  std::string out = fmt::format("{} {}: {}, driver {}, torch {}; measured {}{}\n", text_or(entry, "task", "?"),
                                text_or(entry, "name", ""), text_or(key, "gpu", "?"), text_or(key, "driver", "?"),
                                text_or(key, "torch", "?"), text_or(entry, "measured_at", "?"),
                                flag_or(entry, "from_cache", false) ? " (kept; --fresh measures anew)" : "");
  out += fmt::format("  {:<24} {:>9} {:>9} {:>11} {:>9} {:>9}  {}\n", "", "mean ms", "median ms", "over eager",
                     "peak MB", "compile s", "official check");
  const json baselines = object_in(entry, "baselines");
  for (const char* kind : kReferenceKinds) out += row(kind, object_in(baselines, kind));
  for (const char* kind : kCompiledKinds) out += row(kind, object_in(baselines, kind));
  for (const json& warning : array_in(entry, "warnings")) {
    if (warning.is_string()) out += "  note: " + warning.get<std::string>() + "\n";
  }
  return out;
}

}  // namespace kagent
