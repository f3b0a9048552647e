// CUDA that does not compile is told at once: before anything else starts, which takes seconds (two processes that
// import torch, a CUDA context).
//
// The text is compiled as it stands, with no template instantiated: what fails so fails with any instantiation. What
// passes is compiled once more after tracing, from the compiler's cache unless templates are launched.
#pragma once

#include <optional>
#include <string>

#include "agent/judge/judge.h"

namespace kagent {

// The whole verdict on an answer that the compiler refuses; nothing if it may go on: it compiles, or nothing can be
// said so early (no architecture known before the GPU is asked, no compiler: judging says why).
std::optional<Verdict> refused_by_compiler(const Installation& installation, const JudgeSettings& settings,
                                           const std::string& task_id, const Program& program, Artifacts& artifacts);

}  // namespace kagent
