// The sub-commands. Each add_* declares its options on the program and, when chosen on the command line, runs and
// leaves the process's exit code in `exit_code`.
//
// Exit codes: 0 success (accepted), 1 the answer was rejected, 2 an error (bad input, kagent or the machine), 3
// undecided, 4 waiting for an answer (spool without waiting) or for the other half, 5 stopped (Ctrl-C, budget).
#pragma once

#include <CLI/CLI.hpp>

namespace kagent {

inline constexpr int kExitError = 2;
inline constexpr int kExitWaiting = 4;
inline constexpr int kExitStopped = 5;

void add_solve(CLI::App& program, int& exit_code);
void add_run(CLI::App& program, int& exit_code);     // run
void add_halves(CLI::App& program, int& exit_code);  // generate, judge-run
void add_judge(CLI::App& program, int& exit_code);
void add_show(CLI::App& program, int& exit_code);
void add_baselines_command(CLI::App& program, int& exit_code);
void add_tasks(CLI::App& program, int& exit_code);
void add_replay(CLI::App& program, int& exit_code);
void add_log(CLI::App& program, int& exit_code);
void add_audit(CLI::App& program, int& exit_code);
void add_score(CLI::App& program, int& exit_code);
void add_report(CLI::App& program, int& exit_code);
void add_doctor(CLI::App& program, int& exit_code);

}  // namespace kagent
