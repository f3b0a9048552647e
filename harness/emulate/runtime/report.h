// The end of a program that cannot go on: says why over the socket and exits. Any thread, also from a signal handler.
#pragma once

namespace kagent::emulate {

// Block and thread are those that run on this operating-system thread. `line` of the answer, or 0.
[[noreturn]] void end_program(const char* kind, const char* message, int line);

// The answer's line of a code address, or 0.
int line_of(const void* address);

void catch_signals();           // once: memory faults, aborts and divisions by zero end the program with a report
void signal_stack_of_thread();  // each operating-system thread

}  // namespace kagent::emulate
