// Hidden rules beyond the official check: other weights, inputs with structure, accuracy against double precision,
// repeated runs.
#pragma once

#include <optional>
#include <string>

#include "agent/judge/check.h"

namespace kagent {

// Runs the draws and repeats, and records accuracy, redrawn_weights, structured_inputs, input_sensitivity and
// repeatable. Whatever went wrong with the answer, the failure says only that the hidden check failed.
std::optional<Failure> check_beyond(Crew& crew, Child& candidate, const Seeds& seeds, const std::string& exchange_file,
                                    Verdict& verdict);

// SHA-256 of a run's file; empty when it cannot be read.
std::string digest_of(const std::string& exchange_file);

}  // namespace kagent
