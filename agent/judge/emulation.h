// The `emulate` back end's part of judging: kernels as a program for the CPU, and what its checking build says of a
// wrong answer (harness/emulate).
#pragma once

#include <optional>
#include <string>

#include "agent/judge/build.h"
#include "agent/judge/check.h"

namespace kagent {

// Compiles the kernels for the CPU into built.emulate; `checking` sees every access and is several times slower. A
// Failure of kind not_emulable says nothing about the answer.
std::optional<Failure> build_emulated(Crew& crew, const Program& program, bool checking, Verdict& verdict,
                                      Built& built);

// Kinds of failure that say nothing about an answer where kernels are emulated: the CPU cannot do it, or not in time,
// or the difference is the CPU's own rounding.
bool undecided_by_emulation(const std::string& kind);

// A failure that says nothing about the answer: kagent's or the machine's own, or such a kind.
bool says_nothing(const Crew& crew, const Failure& failure);

// A visible draw went wrong: does the checking build, in a fresh worker, know why? (Races, accesses out of bounds, ...)
std::optional<Failure> diagnose(Crew& crew, const Program& program, const Built& built, const Draw& draw,
                                const std::string& exchange_file, Verdict& verdict);

}  // namespace kagent
