// Baselines measured once for a machine and a task (docs/baselines.md), kept in the cache folder.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "agent/base/result.h"
#include "agent/judge/verdict.h"

namespace kagent {

// Everything that times depend on. `environment`: of a verdict, or what the reference worker says of itself (torch,
// cudnn, device). Where one of these is another, the entry is another.
nlohmann::json baseline_key(const nlohmann::json& environment, const std::string& task_sha256);

// <cache>/baselines/<hash of the key>.json
std::string baseline_file(const std::string& cache_folder, const nlohmann::json& key);

// The entry of this very key. Errors: kNotFound (none), kParse (a damaged file, or another key's), kIo.
Result<nlohmann::json> find_baselines(const std::string& cache_folder, const nlohmann::json& key);

// `entry["key"]` says which; a reader sees the old or the new one, never a part. Errors: kIo.
Status keep_baselines(const std::string& cache_folder, const nlohmann::json& entry);

// What an entry says beside the verdict's own measurements: torch.compile's times, and who passes the official check.
// Precondition: verdict.candidate.
void add_baselines(const nlohmann::json& entry, Verdict& verdict);

}  // namespace kagent
