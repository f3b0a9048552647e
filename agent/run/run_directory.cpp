#include "agent/run/run_directory.h"

#include <fmt/format.h>

#include <filesystem>

#include "agent/base/clock.h"
#include "agent/base/file.h"
#include "agent/base/sha256.h"

namespace kagent::run {
namespace {

constexpr int kFormat = 1;

// The first path at which two JSON values differ, e.g. "model".
std::string first_difference(const nlohmann::json& a, const nlohmann::json& b) {
  for (const auto& [key, value] : a.items()) {
    if (!b.contains(key) || b[key] != value) return key;
  }
  for (const auto& [key, value] : b.items()) {
    if (!a.contains(key)) return key;
  }
  return "";
}

}  // namespace

Result<RunDirectory> RunDirectory::open(const std::string& folder) {
  RunDirectory run;
  run.folder_ = folder;
  Result<std::string> text = read_file(folder + "/manifest.json");
  if (!text) {
    if (text.error().code != Code::kNotFound) return text.error();
    return Error{Code::kNotFound, fmt::format("{} is no run directory: it has no manifest.json", folder)};
  }
  run.manifest_ = nlohmann::json::parse(text.value(), nullptr, false);
  if (!run.manifest_.is_object() || !run.manifest_.contains("identity") || !run.manifest_["identity"].is_object()) {
    return Error{Code::kParse, fmt::format("{}/manifest.json is not a manifest of kagent", folder)};
  }
  if (run.manifest_.value("format", 0) != kFormat) {
    return Error{Code::kParse, fmt::format("{} has run format {}, this kagent reads {}", folder,
                                           run.manifest_.value("format", 0), kFormat)};
  }
  run.manifest_sha256_ = sha256_hex(text.value());
  return run;
}

Result<RunDirectory> RunDirectory::create_or_resume(const std::string& folder, const nlohmann::json& identity,
                                                    const nlohmann::json& facts) {
  std::error_code failed;
  if (std::filesystem::exists(folder + "/manifest.json", failed)) {
    Result<RunDirectory> run = open(folder);
    if (!run) return run;
    const std::string key = first_difference(run.value().manifest_["identity"], identity);
    if (key.empty()) return run;
    return Error{Code::kUsage,
                 fmt::format("{} is a run with another {}: {} there, {} now; choose another --run, or give the same",
                             folder, key, run.value().manifest_["identity"].value(key, nlohmann::json()).dump(),
                             identity.value(key, nlohmann::json()).dump())};
  }
  if (std::filesystem::exists(folder, failed) && !std::filesystem::is_empty(folder, failed)) {
    return Error{Code::kUsage,
                 fmt::format("{} exists, is not empty and is no run directory; choose another --run", folder)};
  }
  const nlohmann::json manifest = {
      {"format", kFormat}, {"created", now_utc()}, {"identity", identity}, {"facts", facts}};
  if (Status written = write_file(folder + "/manifest.json", manifest.dump(2) + "\n"); !written) return written.error();
  return open(folder);
}

std::vector<std::string> RunDirectory::tasks() const {
  std::vector<std::string> ids;
  std::error_code failed;
  for (const auto& id : manifest_["identity"].value("tasks", nlohmann::json::array())) {
    if (!id.is_string()) continue;
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
  Result<std::string> text = read_file(path);
  if (!text) return text.error();
  Result<Chain> chain = parse_chain(text.value(), manifest_sha256_);
  if (!chain) return chain.error().within(path);
  return chain;
}

Result<std::optional<RecordedReply>> recorded_reply(const RunDirectory& run, const std::string& task_id, int sample) {
  Result<Chain> chain = run.read_task(task_id);
  if (!chain) {
    if (chain.error().code == Code::kNotFound) return std::optional<RecordedReply>();
    return chain.error();
  }
  for (const SampleState& state : state_of(chain.value().events).samples) {
    if (state.number != sample || !state.reply) continue;
    Result<std::string> text = run.blobs().get(state.reply->value("answer_sha256", ""));
    if (!text) return text.error();
    return std::optional<RecordedReply>(RecordedReply{text.value(), *state.reply});
  }
  return std::optional<RecordedReply>();
}

}  // namespace kagent::run
