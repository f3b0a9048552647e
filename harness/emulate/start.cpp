// kagent-emulate PROGRAM: shuts this process off, then becomes the program. What an emulated answer's program does
// before its main is sealed, too.

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>

#include "harness/seal/seal.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: kagent-emulate PROGRAM (started by kagent)\n");
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::closefrom(5);  // the socket is 3, the tensors' memory 4
  kagent::seal::Rules rules;
  rules.executable = {argv[1]};
  rules.cpu_seconds = 3600;
  rules.file_bytes = 1L << 40;  // the tensors' memory is a file
  rules.map_executable = true;
  const kagent::seal::Outcome sealed = kagent::seal::seal(rules);
  if (!sealed.sealed) {
    std::fprintf(stderr, "%s\n", sealed.error.c_str());
    return 3;
  }
  char* arguments[] = {argv[1], nullptr};
  char* environment[] = {nullptr};
  ::execve(argv[1], arguments, environment);
  std::perror("kagent-emulate");
  return 4;
}
