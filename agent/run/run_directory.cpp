#include "agent/run/run_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "agent/base/clock.h"
#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/base/printable.h"
#include "agent/base/sha256.h"

namespace kagent::run {
namespace {

constexpr int kFormat = 1;

// The fields that readers rely on have their types; one line on what is wrong, or nothing.
std::string manifest_problem(const nlohmann::json& manifest) {
  if (const std::int64_t format = integer_or(manifest, "format", 0); format != kFormat)
    return fmt::format("run format {}; this kagent reads format {}", format, kFormat);
  for (const char* part : {"identity", "facts"}) {
    if (!manifest.contains(part) || !manifest[part].is_object()) return fmt::format("{} is missing", part);
  }
  if (text_or(manifest, "created", "").empty()) return "created is missing";
  const nlohmann::json& identity = manifest["identity"];
  if (!identity.contains("tasks") || !identity["tasks"].is_array()) return "identity/tasks is missing";
  std::set<std::string> folders;
  for (const nlohmann::json& id : identity["tasks"]) {
    if (!id.is_string()) return "a task id is no text";
    if (!folders.insert(folder_of_task(id.get<std::string>())).second)
      return fmt::format("two tasks share the folder tasks/{}", folder_of_task(id.get<std::string>()));
  }
  return "";
}

// The order in which tasks were named is no part of what a run is.
nlohmann::json in_order(nlohmann::json identity) {
  if (identity.contains("tasks") && identity["tasks"].is_array())
    std::sort(identity["tasks"].begin(), identity["tasks"].end());
  return identity;
}

// The first path at which two JSON values differ, e.g. "request/temperature"; empty if they are equal.
std::string first_difference(const nlohmann::json& a, const nlohmann::json& b) {
  if (a == b) return "";
  if (!a.is_object() || !b.is_object()) return "/";
  for (const auto& [key, value] : a.items()) {
    if (!b.contains(key)) return key;
    const std::string inside = first_difference(value, b[key]);
    if (!inside.empty()) return inside == "/" ? key : key + "/" + inside;
  }
  for (const auto& [key, value] : b.items()) {
    if (!a.contains(key)) return key;
  }
  return "/";
}

// What stands at such a path, short enough for a message.
std::string shown_at(const nlohmann::json& value, const std::string& path) {
  const nlohmann::json* at = &value;
  std::size_t begin = 0;
  while (begin <= path.size() && path != "/") {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    if (!at->is_object() || !at->contains(key)) return "nothing";
    at = &(*at)[key];
    begin = end + 1;
  }
  std::string text = at->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.size() > 80 ? text.substr(0, 77) + "..." : text;
}

}  // namespace

Result<RunDirectory> RunDirectory::open(const std::string& folder) {
  RunDirectory run;
  run.folder_ = folder;
  Result<std::string> text = read_own_file(folder + "/manifest.json");
  if (!text) {
    if (text.error().code != Code::kNotFound) return text.error();
    return Error{Code::kNotFound, fmt::format("{} is no run directory: it has no manifest.json", name_text(folder))};
  }
  Result<nlohmann::json> manifest = parse_json(text.value());
  if (manifest) run.manifest_ = manifest.value();
  if (const std::string problem = manifest ? manifest_problem(run.manifest_) : manifest.error().message;
      !problem.empty()) {
    return Error{Code::kParse,
                 fmt::format("{}/manifest.json: {}; it is written once and must stay: put it back, from a "
                             "copy of the run or version control",
                             folder, problem)};
  }
  run.manifest_sha256_ = sha256_hex(text.value());
  return run;
}

Status RunDirectory::would_take(const std::string& folder, const nlohmann::json& identity) {
  std::error_code failed;
  if (!std::filesystem::exists(folder + "/manifest.json", failed)) {
    if (std::filesystem::exists(folder, failed) && !std::filesystem::is_directory(folder, failed))
      return Error{Code::kUsage, fmt::format("{} is no folder; choose another --run", name_text(folder))};
    if (std::filesystem::exists(folder, failed) && !std::filesystem::is_empty(folder, failed)) {
      return Error{Code::kUsage, fmt::format("{} exists, is not empty and is no run directory; choose another --run",
                                             name_text(folder))};
    }
    return Ok{};
  }
  Result<RunDirectory> run = open(folder);
  if (!run) return run.error();
  const nlohmann::json there = in_order(run.value().manifest_["identity"]);
  const nlohmann::json now = in_order(identity);
  // Another task differs in more than its name, and its name says it best.
  const std::string key = there["tasks"] != now["tasks"] ? "tasks" : first_difference(there, now);
  if (key.empty()) return Ok{};
  return Error{Code::kUsage,
               fmt::format("{} is a run with another {}: {} there, {} now; choose another --run, or give the same",
                           name_text(folder), key, shown_at(there, key), shown_at(now, key))};
}

Result<RunDirectory> RunDirectory::create_or_resume(const std::string& folder, const nlohmann::json& identity,
                                                    const nlohmann::json& facts) {
  const std::string path = folder + "/manifest.json";
  if (Status takes = would_take(folder, identity); !takes) return takes.error();
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) {
    nlohmann::json manifest = {{"format", kFormat}, {"created", now_utc()}, {"identity", identity}, {"facts", facts}};
    if (facts.is_null()) manifest["facts"] = nlohmann::json::object();
    if (const std::string problem = manifest_problem(manifest); !problem.empty())
      return Error{Code::kInternal, "cannot start a run: " + problem};
    const std::string text = manifest.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    // Of several processes that begin the same run, one writes the manifest and the others find it.
    if (Status written = create_file(path, text); !written && written.error().code != Code::kBusy)
      return written.error();
    if (Status takes = would_take(folder, identity); !takes) return takes.error();
  }
  return open(folder);
}

std::vector<std::string> RunDirectory::tasks() const {
  std::vector<std::string> ids;
  std::error_code failed;
  for (const nlohmann::json& id : manifest_["identity"]["tasks"]) {
    const std::string log = folder_ + "/tasks/" + folder_of_task(id.get<std::string>()) + "/events.jsonl";
    if (std::filesystem::exists(log, failed)) ids.push_back(id.get<std::string>());
  }
  return ids;
}

Result<std::unique_ptr<TaskLog>> RunDirectory::open_task(const std::string& task_id) const {
  return TaskLog::open(folder_, task_id, manifest_sha256_);
}

Result<Chain> RunDirectory::read_task(const std::string& task_id) const {
  const std::string path = folder_ + "/tasks/" + folder_of_task(task_id) + "/events.jsonl";
  Result<std::string> text = read_own_file(path);
  if (!text) return text.error();
  return parse_chain_of(path, text.value(), manifest_sha256_);
}

Result<std::unique_ptr<EventLog>> RunDirectory::open_audit() const {
  return EventLog::open(folder_, "audit.jsonl", manifest_sha256_);
}

Result<Chain> RunDirectory::read_audit() const {
  const std::string path = folder_ + "/audit.jsonl";
  Result<std::string> text = read_own_file(path);
  if (!text && text.error().code != Code::kNotFound) return text.error();
  return parse_chain_of(path, text ? text.value() : "", manifest_sha256_);
}

Result<std::optional<RecordedReply>> recorded_reply(const RunDirectory& run, const std::string& task_id, int sample) {
  Result<Chain> chain = run.read_task(task_id);
  if (!chain) {
    if (chain.error().code == Code::kNotFound) return std::optional<RecordedReply>();
    return chain.error();
  }
  for (const SampleState& state : state_of(chain.value().events).samples) {
    if (state.number != sample || !state.reply) continue;
    Result<std::string> text = run.blobs().get(text_or(*state.reply, "answer_sha256", ""));
    if (!text) return text.error();
    return std::optional<RecordedReply>(RecordedReply{text.value(), *state.reply});
  }
  return std::optional<RecordedReply>();
}

}  // namespace kagent::run
