// From an answer's two blocks to something that can run: trace the host program, compile the CUDA.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "agent/judge/crew.h"
#include "agent/judge/verdict.h"

namespace kagent {

struct Program {
  std::string cuda;    // the answer's CUDA block
  std::string python;  // the answer's host program
};

struct Built {
  std::string plan;        // text, as the sealed tracer printed it
  std::string cubin_path;  // in the compiler's cache
  nlohmann::json kernels;  // facts by name, docs/protocol.md
  nlohmann::json names;    // the kernels that the plan launches
  nlohmann::json lint;     // of the PTX, docs/lint.md
  nlohmann::json emulate;  // the kernels as a program for the CPU (emulation.h); null otherwise
};

// The CUDA alone, for `arch`, with the kernels that a plan launches (`names`; templates are instantiated for them). As
// build.
std::optional<Failure> compile(Child& compiler, const std::string& arch, double deadline_s, const std::string& source,
                               const nlohmann::json& names, Verdict& verdict, Artifacts& artifacts, Built& built);

// Fills verdict.compile, verdict.phases_s and artifacts. A Failure is the answer's fault unless its stage is
// "internal". A host program that cannot be traced still gets its CUDA compiled: the author sees both kinds of error at
// once.
std::optional<Failure> build(Crew& crew, const Program& program, Verdict& verdict, Artifacts& artifacts, Built& built);

// Loads plan and kernels into a worker (re-inferred and validated there). Adds the worker's facts to `plan_facts`.
std::optional<Failure> load(Crew& crew, Child& worker, const Built& built, nlohmann::json& plan_facts);

}  // namespace kagent
