// The PTX lint: what device code can do to cheat and what a reader should know, told from the PTX that NVRTC made
// (docs/lint.md). Read as hostile bytes: no text makes it throw, recurse or take more than near-linear time.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kagent::lint {

enum class Level {
  kReject,  // the answer is rejected for it
  kFlag,    // honest code may have it: for a reviewer
  kNote     // a fact
};

struct Finding {
  std::string rule;  // a stable word
  Level level = Level::kNote;
  std::string kernel;       // PTX name of the .entry or .func, or empty
  std::string what;         // one sentence for the author
  std::optional<int> line;  // of the answer's CUDA block
};

struct Report {
  std::vector<Finding> findings;
  std::vector<std::string> arithmetic;  // sorted: bf16, fp16, fp32, fp64, fp8, int8, tf32
};

Report lint(std::string_view ptx);

// {"findings": [{"rule", "level": "reject"|"flag"|"note", "kernel", "what", "line"}], "arithmetic": [...]}
nlohmann::json to_json(const Report& report);

}  // namespace kagent::lint
