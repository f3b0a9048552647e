// Is it a kernel at all, and does it keep to its memory? Runs that the answer does not expect: between guard regions,
// without a kernel's launches, with copies in their place; and what `prepare` does.
#pragma once

#include <optional>
#include <string>

#include "agent/judge/build.h"
#include "agent/judge/check.h"

namespace kagent {

// Records guard_regions, ghost, bypass and prepare_cost. A Failure says what was seen: these rules are no secret.
std::optional<Failure> check_work(Crew& crew, Child& candidate, const Built& built, const Seeds& seeds,
                                  const std::string& exchange_file, Verdict& verdict);

// From the profile: the share of the answer's own kernels, and whether it uses library operators that compute.
void record_custom_share(Verdict& verdict);

}  // namespace kagent
