#include "agent/replay/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "agent/base/json_text.h"
#include "agent/base/printable.h"

namespace kagent::replay {
namespace {

using nlohmann::json;

constexpr Agreement kAll[] = {Agreement::kEqual,   Agreement::kVerdictOnly, Agreement::kCorrectnessOnly,
                              Agreement::kDiffers, Agreement::kNotCompared, Agreement::kError};

json short_form(const json& verdict) {
  json out = json::object();
  for (const char* key : {"backend", "outcome", "stage", "kind", "reason", "faster", "speedup"})
    out[key] = verdict.is_object() ? verdict.value(key, json()) : json();
  return out;
}

// What a verdict was made with: the parts of its environment that may change what is measured.
json machine_of(const json& verdict) {
  const json environment = object_in(verdict, "environment");
  const json device = object_in(environment, "device");
  const std::string backend = text_or(verdict, "backend", "");
  json out = {{"backend", backend}};
  if (backend == "cuda") out["gpu"] = text_or(device, "name", "?");
  if (const std::string driver = text_or(device, "driver", ""); backend == "cuda" && !driver.empty())
    out["driver"] = driver;
  for (const char* part : {"torch", "nvrtc"}) {
    if (const std::string version = text_or(environment, part, ""); !version.empty()) out[part] = version;
  }
  return out;
}

// Of all samples that were judged by a machine; an answer without blocks needs none.
std::set<json> machines(const Replay& replay, json ReplayedSample::*verdict) {
  std::set<json> found;
  for (const ReplayedSample& sample : replay.samples) {
    if (!object_in(sample.*verdict, "environment").empty()) found.insert(machine_of(sample.*verdict));
  }
  return found;
}

// A verdict that ended before the workers started does not know all of its machine: what it does not name is the same.
bool agree(const json& one, const json& other) {
  const auto items = one.items();
  return std::all_of(items.begin(), items.end(), [&](const auto& item) {
    return !other.contains(item.key()) || other[item.key()] == item.value();
  });
}

bool all_agree(const std::set<json>& some, const std::set<json>& others) {
  return std::all_of(some.begin(), some.end(), [&](const json& one) {
    return std::any_of(others.begin(), others.end(), [&](const json& other) { return agree(one, other); });
  });
}

std::string words_of(const std::set<json>& machines) {
  std::string words;
  for (const json& machine : machines) {
    std::string one;
    for (const auto& [key, value] : machine.items())
      one += (one.empty() ? "" : ", ") + (key == "gpu" || key == "backend" ? "" : key + " ") + value.get<std::string>();
    words += (words.empty() ? "" : "; ") + one;
  }
  return words.empty() ? "none" : words;
}

std::string outcome_of(const json& verdict) {
  const std::string outcome = text_or(verdict, "outcome", "?");
  const std::string stage = text_or(verdict, "stage", "");
  const double speedup = number_or(verdict, "speedup", 0);
  return outcome + (stage.empty() ? "" : fmt::format(" at {} ({})", stage, text_or(verdict, "kind", ""))) +
         (speedup > 0 ? fmt::format(", {:.2f}x eager", speedup) : "");
}

}  // namespace

json to_json(const Replay& replay, const run::RunDirectory& run, Verdicts verdicts) {
  json samples = json::array();
  for (const ReplayedSample& s : replay.samples) {
    const bool whole = verdicts == Verdicts::kWhole;
    samples.push_back({{"task", s.task},
                       {"sample", s.sample},
                       {"task_file", s.task_from_log ? "from the log" : "built in"},
                       {"agreement", to_string(s.comparison.agreement)},
                       {"differences", s.comparison.differences},
                       {"notes", s.comparison.notes},
                       {"logged", whole ? s.logged : short_form(s.logged)},
                       {"replayed", whole ? s.replayed : short_form(s.replayed)}});
  }
  json counts = json::object();
  for (const Agreement agreement : kAll) counts[to_string(agreement)] = replay.count(agreement);
  return {{"run", run.folder()},
          {"manifest_sha256", run.manifest_sha256()},
          {"counts", counts},
          {"without_verdict", replay.without_verdict},
          {"machines",
           {{"logged", machines(replay, &ReplayedSample::logged)},
            {"replayed", machines(replay, &ReplayedSample::replayed)}}},
          {"samples", samples}};
}

std::string to_text(const Replay& replay, const run::RunDirectory& run) {
  std::string text;
  const auto line = [&text](const std::string& what) { text += printable(what) + "\n"; };
  std::set<std::string> from_log;
  std::set<std::string> said;
  for (const ReplayedSample& s : replay.samples) {
    line(fmt::format("{} sample {}: {}: {}", s.task, s.sample, to_string(s.comparison.agreement),
                     s.replayed.is_null() ? "not judged" : outcome_of(s.replayed)));
    for (const std::string& difference : s.comparison.differences) line("  differs: " + difference);
    for (const std::string& note : s.comparison.notes) line("  " + note);
    if (s.task_from_log) from_log.insert(s.task);
  }
  for (const std::string& task : from_log)
    line(fmt::format("{}: judged with the log's copy of its file; the built-in one is another or none", task));
  const auto then = machines(replay, &ReplayedSample::logged);
  const auto now = machines(replay, &ReplayedSample::replayed);
  if (!now.empty() && !(all_agree(then, now) && all_agree(now, then))) {
    line("logged with " + words_of(then));
    line("judged again with " + words_of(now));
  }
  std::string counts;
  for (const Agreement agreement : kAll) {
    if (replay.count(agreement) > 0 || agreement == Agreement::kEqual || agreement == Agreement::kDiffers)
      counts += fmt::format(", {} {}", replay.count(agreement), to_string(agreement));
  }
  line(fmt::format(
      "{}: {} {} judged again{}{}", run.folder(), replay.samples.size(),
      replay.samples.size() == 1 ? "verdict" : "verdicts", counts,
      replay.without_verdict > 0 ? fmt::format("; {} replies have no verdict", replay.without_verdict) : ""));
  return text;
}

}  // namespace kagent::replay
