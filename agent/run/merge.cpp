#include "agent/run/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "agent/base/file.h"
#include "agent/run/chain.h"
#include "agent/run/event.h"
#include "agent/run/event_log.h"

namespace kagent::run {
namespace {

// One chained log by its place inside a run directory.
struct Place {
  std::string name;
  std::string folder;  // "tasks/3-4", or "" for the audit
  std::string file;

  [[nodiscard]] std::string folder_in(const RunDirectory& run) const {
    return folder.empty() ? run.folder() : run.folder() + "/" + folder;
  }
  [[nodiscard]] std::string path_in(const RunDirectory& run) const { return folder_in(run) + "/" + file; }
};

struct Log {
  std::string lines;  // whole ones, each with its newline
  Chain chain;
};

// A log that is not there is an empty one. Errors: damage.
Result<Log> read_log(const RunDirectory& run, const Place& place) {
  const std::string path = place.path_in(run);
  Result<std::string> text = read_own_file(path);
  if (!text && text.error().code != Code::kNotFound) return text.error();
  Result<Chain> chain = parse_chain_of(path, text ? text.value() : "", run.manifest_sha256());
  if (!chain) return chain.error();
  Log log{text ? text.value().substr(0, chain.value().bytes) : "", std::move(chain).value()};
  if (log.chain.newline_missing) log.lines += '\n';
  return log;
}

// Where two logs went different ways; nullopt if one is a beginning of the other.
std::optional<std::size_t> fork_at(const std::string& a, const std::string& b) {
  const std::size_t common = std::min(a.size(), b.size());
  const auto differ = std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(common), b.begin()).first;
  const auto at = static_cast<std::size_t>(differ - a.begin());
  if (at == common) return std::nullopt;
  return static_cast<std::size_t>(std::count(a.begin(), differ, '\n')) + 1;
}

struct Choice {
  Log log;
  const RunDirectory* from = nullptr;  // null: the one that is there already
  std::size_t events_before = 0;
};

// The longest of all logs at this place. Errors: kUsage if they went different ways.
Result<Choice> choose(const RunDirectory& into, const std::vector<RunDirectory>& copies, const Place& place) {
  Result<Log> there = read_log(into, place);
  if (!there) return there.error();
  Choice choice{std::move(there).value(), nullptr, 0};
  choice.events_before = choice.log.chain.events.size();
  for (const RunDirectory& copy : copies) {
    Result<Log> other = read_log(copy, place);
    if (!other) return other.error();
    if (const auto line = fork_at(choice.log.lines, other.value().lines)) {
      const std::string& one = choice.from == nullptr ? into.folder() : choice.from->folder();
      return Error{Code::kUsage, fmt::format("{}: {} and {} went different ways at line {} of its log; nothing was "
                                             "merged: keep one of them, or merge the other tasks by hand",
                                             place.name, one, copy.folder(), *line)};
    }
    if (other.value().lines.size() <= choice.log.lines.size()) continue;
    choice.log = std::move(other).value();
    choice.from = &copy;
  }
  return choice;
}

std::set<std::string> blobs_of_log(const Log& log) {
  std::set<std::string> blobs;
  for (const nlohmann::json& event : log.chain.events) blobs.merge(blobs_of(event));
  return blobs;
}

// From wherever it is whole: the place it belongs to, or a copy.
Result<std::string> find_blob(const std::string& hash, const RunDirectory& into, const RunDirectory& from) {
  if (Result<std::string> there = into.blobs().get(hash)) return there;
  return from.blobs().get(hash);
}

// Under the lease: the log as it is now, whatever it was when it was checked. nullopt: it is the longest by now.
Result<std::optional<MergedLog>> merge_log(const RunDirectory& into, const std::vector<RunDirectory>& copies,
                                           const Place& place, int& blobs_written) {
  // Takes the lease and sets a torn tail aside.
  auto held = EventLog::open(place.folder_in(into), place.file, into.manifest_sha256());
  if (!held) return held.error();
  Result<Choice> chosen = choose(into, copies, place);
  if (!chosen) return chosen.error();
  const Choice& choice = chosen.value();
  if (choice.from == nullptr) return std::optional<MergedLog>();
  for (const std::string& hash : blobs_of_log(choice.log)) {
    if (into.blobs().get(hash)) continue;
    Result<std::string> bytes = choice.from->blobs().get(hash);
    if (!bytes) return bytes.error();
    if (auto put = into.blobs().put(bytes.value()); !put) return put.error();
    ++blobs_written;
  }
  if (Status written = write_file(place.path_in(into), choice.log.lines); !written) return written.error();
  return std::optional<MergedLog>(
      {place.name, choice.from->folder(), choice.log.chain.events.size(), choice.events_before});
}

Status same_run(const RunDirectory& into, const RunDirectory& copy) {
  if (copy.manifest_sha256() == into.manifest_sha256()) return Ok{};
  const bool same_identity = copy.manifest()["identity"] == into.manifest()["identity"];
  return Error{Code::kUsage,
               fmt::format("{} is no copy of {}: {}; nothing was merged", copy.folder(), into.folder(),
                           same_identity ? "the same command began both, each anew; copy a run directory before its "
                                           "copies are worked on"
                                         : "it is a run of something else (another manifest.json)")};
}

}  // namespace

Result<MergeReport> merge(const RunDirectory& into, const std::vector<RunDirectory>& copies) {
  for (const RunDirectory& copy : copies) {
    if (Status same = same_run(into, copy); !same) return same.error();
  }
  std::vector<Place> places;
  for (const nlohmann::json& id : into.manifest()["identity"]["tasks"]) {
    const std::string task = id.get<std::string>();
    places.push_back({task, "tasks/" + folder_of_task(task), "events.jsonl"});
  }
  places.push_back({"audit.jsonl", "", "audit.jsonl"});

  MergeReport report;
  std::vector<Place> changed;
  for (const Place& place : places) {
    Result<Choice> choice = choose(into, copies, place);
    if (!choice) return choice.error();
    const Log& log = choice.value().log;
    if (choice.value().from == nullptr) continue;
    for (const std::string& hash : blobs_of_log(log)) {
      if (Result<std::string> bytes = find_blob(hash, into, *choice.value().from); !bytes)
        return bytes.error().within(place.name + ": nothing was merged");
    }
    changed.push_back(place);
  }
  for (const Place& place : changed) {
    auto merged = merge_log(into, copies, place, report.blobs);
    if (!merged) return merged.error();
    if (merged.value()) report.logs.push_back(*merged.value());
  }
  return report;
}

}  // namespace kagent::run
