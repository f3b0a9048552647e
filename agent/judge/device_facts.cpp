#include "agent/judge/device_facts.h"

#include <fmt/format.h>

namespace kagent {
namespace {

struct Facts {
  const char* name;
  const char* arch;
  int sm_count;
  int shared_per_block;
  int shared_per_sm;
  int threads_per_sm;
  int blocks_per_sm;
  int max_cluster;
  long long l2_bytes;
  long long memory_bytes;
};

constexpr Facts kKnown[] = {
    {"NVIDIA H200", "sm_90a", 132, 232448, 233472, 2048, 32, 8, 62914560, 150110011392},
    {"NVIDIA A100", "sm_80", 108, 166912, 167936, 2048, 32, 1, 41943040, 85899345920},
    {"NVIDIA A10", "sm_86", 72, 101376, 102400, 1536, 16, 1, 6291456, 25769803776},
    {"NVIDIA L40S", "sm_89", 142, 101376, 102400, 1536, 24, 1, 100663296, 51539607552},
};

}  // namespace

Result<nlohmann::json> device_facts(const std::string& arch) {
  std::string known;
  for (const Facts& f : kKnown) {
    if (arch == f.arch) {
      return nlohmann::json{{"name", f.name},
                            {"arch", f.arch},
                            {"sm_count", f.sm_count},
                            {"shared_per_block", f.shared_per_block},
                            {"shared_per_sm", f.shared_per_sm},
                            {"registers_per_sm", 65536},
                            {"threads_per_sm", f.threads_per_sm},
                            {"blocks_per_sm", f.blocks_per_sm},
                            {"max_cluster", f.max_cluster},
                            {"l2_bytes", f.l2_bytes},
                            {"memory_bytes", f.memory_bytes},
                            {"driver", "none"}};
    }
    known += (known.empty() ? "" : ", ") + std::string(f.arch);
  }
  return Error{Code::kUsage, fmt::format("no facts for --arch {}; use one of {}", arch, known)};
}

}  // namespace kagent
