// Holds a parsed plan to docs/plan.md's rules, as far as they need no torch (harness/plan/infer.py re-infers the rest).
#pragma once

#include <optional>

#include "harness/plan/kernels.h"
#include "harness/plan/operators.h"
#include "harness/plan/plan.h"
#include "harness/plan/problem.h"

namespace kagent::plan {

enum class Mode {
  kCandidate,          // launches a kernel in forward; outputs are made by forward's steps
  kCandidateAliasing,  // the same, but outputs may be inputs, buffers or prepared tensors, as the reference's are
  kReference,          // the null plan: needs no launch, outputs may be anything defined
};

// nullopt: fit to run, given that infer.py accepts it too. Otherwise the first problem, with the step's line.
std::optional<Problem> validate(const Plan& plan, const Kernels& kernels, const Device& device,
                                const Operators& operators, Mode mode);

}  // namespace kagent::plan
