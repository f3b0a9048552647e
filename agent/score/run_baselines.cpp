#include "agent/score/run_baselines.h"

#include <algorithm>

#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/judge/baseline_cache.h"

namespace kagent::score {

using nlohmann::json;

RunBaselines::RunBaselines(const std::string& run_folder) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  const std::string path = run_folder + "/baselines.json";
  const Result<std::string> text = read_own_file(path, kMostBytes);
  if (!text) {
    if (text.error().code != Code::kNotFound) damage_ = text.error();
    return;
  }
  const Result<json> parsed = parse_json(text.value());
  if (!parsed || !parsed.value().is_object() || !parsed.value().contains("baselines")) {
    damage_ = Error{Code::kParse, path + " is not what `kagent baselines --json` prints: measure again, or remove it"};
    return;
  }
  for (const json& entry : array_in(parsed.value(), "baselines")) {
    if (entry.is_object()) entries_.push_back(entry);
  }
}

json RunBaselines::added_to(json verdict, const std::string& task_sha256) const {
  const double mean_ms = number_or(object_in(object_in(verdict, "candidate"), "ms"), "mean", 0);
  if (mean_ms <= 0) return verdict;
  const json key = baseline_key(object_in(verdict, "environment"), task_sha256);
  const auto entry =
      std::find_if(entries_.begin(), entries_.end(), [&](const json& e) { return object_in(e, "key") == key; });
  if (entry == entries_.end()) return verdict;

  Verdict timed;
  timed.candidate = Summary{mean_ms, mean_ms, mean_ms, 1};
  json all = object_in(verdict, "baselines");
  for (const auto& [name, measured] : all.items()) timed.baselines[name] = Timed{};
  add_baselines(*entry, timed);
  const json known = object_in(to_json(timed), "baselines");
  for (const auto& [name, kept] : known.items()) {
    if (!all.contains(name)) {
      all[name] = kept;
    } else if (all[name].is_object() && !all[name].contains("passes_official_check") &&
               kept.contains("passes_official_check")) {
      all[name]["passes_official_check"] = kept["passes_official_check"];
    }
  }
  verdict["baselines"] = std::move(all);
  return verdict;
}

}  // namespace kagent::score
