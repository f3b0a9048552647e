#include "agent/judge/baseline_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/base/printable.h"
#include "agent/base/sha256.h"
#include "agent/judge/baselines.h"

namespace kagent {
namespace {

using nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
// What is measured, and how. Another way of measuring is another version: older entries are not used any more.
constexpr const char* kFlags =
    "version 1: no_grad, train mode as constructed, matmul in TF32 (high), cuDNN in TF32; torch.compile with inductor";

Summary summary_of(const json& ms) {
  return {number_or(ms, "mean", 0), number_or(ms, "median", 0), number_or(ms, "min", 0),
          static_cast<int>(std::clamp<std::int64_t>(integer_or(ms, "runs", 0), 0, std::numeric_limits<int>::max()))};
}

bool whole(const json& entry) {
  const json eager = object_in(object_in(entry, "baselines"), "eager");
  return number_or(object_in(eager, "ms"), "mean", 0) > 0;
}

void add_cached(const json& entry, const char* kind, Verdict& verdict) {
  const json known = object_in(object_in(entry, "baselines"), kind);
  Timed timed;
  timed.cached_at = printable(text_or(entry, "measured_at", "")).substr(0, 40);
  if (timed.cached_at.empty()) timed.cached_at = "unknown";
  timed.note = printable(text_or(known, "note", "")).substr(0, 1000);
  timed.summary = summary_of(object_in(known, "ms"));
  if (timed.summary.mean_ms > 0 && timed.summary.runs > 0 && verdict.candidate->mean_ms > 0) {
    timed.peak_bytes = integer_or(known, "peak_bytes", 0);
    timed.cached_ratio = timed.summary.mean_ms / verdict.candidate->mean_ms;
    timed.note = fmt::format("measured on {}, not beside this answer; eager's mean was {:.4g} ms then", timed.cached_at,
                             number_or(object_in(object_in(object_in(entry, "baselines"), "eager"), "ms"), "mean", 0));
  } else {
    timed.summary = {};
    if (timed.note.empty()) return;  // the entry does not know it
  }
  verdict.baselines[kind] = timed;
}

}  // namespace

json baseline_key(const json& environment, const std::string& task_sha256) {
  const json device = object_in(environment, "device");
  return {{"gpu", text_or(device, "name", "")},
          {"driver", text_or(device, "driver", "")},
          {"torch", text_or(environment, "torch", "")},
          {"cudnn", integer_or(environment, "cudnn", 0)},
          {"flags", kFlags},
          {"task_sha256", task_sha256}};
}

std::string baseline_file(const std::string& cache_folder, const json& key) {
  const std::string text = key.dump(-1, ' ', false, json::error_handler_t::replace);
  return fmt::format("{}/baselines/{}.json", cache_folder, sha256_hex(text).substr(0, 32));
}

Result<json> find_baselines(const std::string& cache_folder, const json& key) {
  const std::string path = baseline_file(cache_folder, key);
  const Result<std::string> text = read_own_file(path, kMostBytes);
  if (!text) return text.error();
  Result<json> entry = parse_json(text.value());
  if (!entry) return entry.error().within(path);
  if (object_in(entry.value(), "key") != key || !whole(entry.value()))
    return Error{Code::kParse, path + " is no entry of this task and machine; `kagent baselines` measures it again"};
  return entry;
}

Status keep_baselines(const std::string& cache_folder, const json& entry) {
  return write_file(baseline_file(cache_folder, object_in(entry, "key")), pretty(entry) + "\n");
}

void add_baselines(const json& entry, Verdict& verdict) {
  for (const char* kind : kCompiledKinds) add_cached(entry, kind, verdict);
  const json known = object_in(entry, "baselines");
  for (auto& [kind, timed] : verdict.baselines) {
    const json cached = object_in(known, kind.c_str());
    const auto passes = cached.find("passes_official_check");
    if (passes != cached.end() && passes->is_boolean()) timed.passes_official = passes->get<bool>();
  }
}

}  // namespace kagent
