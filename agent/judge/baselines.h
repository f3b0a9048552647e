// What PyTorch itself makes of a task, timed side by side on a GPU: eager (TF32), the same as one CUDA graph, the null
// plan, and torch.compile in two modes, each with its peak memory and its own verdict under the official check
// (docs/baselines.md).
//
// A reference worker times the first three. torch.compile runs in a worker of its own a mode, which may compile; no
// worker that judges may. All take turns in short bursts, as in judging (timing.h).
#pragma once

#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "agent/base/result.h"
#include "agent/judge/contender.h"
#include "agent/judge/crew.h"

namespace kagent {

inline constexpr std::array<const char*, 3> kReferenceKinds = {"eager", "graphed_eager", "null_plan"};
inline constexpr std::array<const char*, 2> kCompiledKinds = {"compile", "compile_reduce_overhead"};

struct BaselineSettings {
  CrewSpec crew;  // task_file, gpu
  TimingRules timing;
  double kind_deadline_s = 300;  // for a kind to get ready (torch.compile may take minutes), and for each burst
};

// What this machine is, for baseline_key: the answer of a reference worker to `hello`, which imports torch once.
Result<nlohmann::json> reference_environment(const Installation& installation, const CrewSpec& spec);

// {"environment", "rounds", "baselines": {kind: {"ms", "peak_bytes", "over_eager", "compile_s",
// "passes_official_check", "official", "note"}}, "warnings"}. A kind that cannot be measured has a note. The GPU is the
// caller's to lock. Errors: the machine's; eager does not run.
Result<nlohmann::json> measure_baselines(const Installation& installation, const BaselineSettings& settings,
                                         const std::function<void(std::string_view)>& on_phase);

}  // namespace kagent
