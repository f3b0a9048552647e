#include "harness/seal/seal.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/seal/landlock.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // libseccomp's SCMP_A macros leave fields out

namespace kagent::seal {
namespace {

// What a computing process with open descriptors needs.
constexpr int kAlwaysAllowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(pwrite64),
    SCMP_SYS(close),
    SCMP_SYS(lseek),
    SCMP_SYS(dup),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(munmap),
    SCMP_SYS(brk),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(get_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(times),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(gettid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrandom),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(statx),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(getcwd),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(getrlimit),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(fadvise64),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(membarrier),
};
// Only with a writable folder; Landlock decides where.
constexpr int kWritingAllowed[] = {SCMP_SYS(mkdir),     SCMP_SYS(mkdirat), SCMP_SYS(unlink),    SCMP_SYS(unlinkat),
                                   SCMP_SYS(rmdir),     SCMP_SYS(rename),  SCMP_SYS(renameat),  SCMP_SYS(renameat2),
                                   SCMP_SYS(ftruncate), SCMP_SYS(fsync),   SCMP_SYS(fdatasync), SCMP_SYS(fchmod),
                                   SCMP_SYS(fallocate), SCMP_SYS(umask)};

std::string set_limit(__rlimit_resource resource, long value, const char* name) {
  const rlimit limit = {static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  return ::setrlimit(resource, &limit) == 0 ? "" : std::string(name) + ": " + std::strerror(errno);
}

// Adds rules; the first failure is kept.
class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM))) {
    if (context_ == nullptr) rc_ = -ENOMEM;
  }
  ~Filter() {
    if (context_ != nullptr) seccomp_release(context_);
  }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  void attribute(scmp_filter_attr attr, unsigned value) { keep(seccomp_attr_set(context_, attr, value)); }
  void allow(int call) { keep(seccomp_rule_add(context_, SCMP_ACT_ALLOW, call, 0)); }
  void allow_if(int call, scmp_arg_cmp condition) {
    keep(seccomp_rule_add(context_, SCMP_ACT_ALLOW, call, 1, condition));
  }
  void answer(int call, unsigned error) { keep(seccomp_rule_add(context_, SCMP_ACT_ERRNO(error), call, 0)); }
  int load() {
    keep(rc_ == 0 ? seccomp_load(context_) : rc_);
    return rc_;
  }

 private:
  void keep(int rc) {
    if (rc_ == 0) rc_ = rc;
  }
  scmp_filter_ctx context_;
  int rc_ = 0;
};

std::string restrict_calls(const Rules& rules) {
  Filter filter;
  filter.attribute(SCMP_FLTATR_CTL_TSYNC, 1);  // threads that imports started, too
  filter.attribute(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  for (const int call : kAlwaysAllowed) filter.allow(call);
  if (!rules.writable.empty()) {
    for (const int call : kWritingAllowed) filter.allow(call);
    filter.allow(SCMP_SYS(openat));
    filter.allow(SCMP_SYS(open));
  } else {
    const unsigned writing = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;
    filter.allow_if(SCMP_SYS(openat), SCMP_A2(SCMP_CMP_MASKED_EQ, writing, 0));
    filter.allow_if(SCMP_SYS(open), SCMP_A1(SCMP_CMP_MASKED_EQ, writing, 0));
  }
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)}) {
    if (rules.map_executable) {
      filter.allow(call);
    } else {
      filter.allow_if(call, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    }
  }
  if (rules.allow_fork) {
    for (const int call : {SCMP_SYS(clone), SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(wait4), SCMP_SYS(pipe2)})
      filter.allow(call);
  } else {
    const unsigned thread = CLONE_THREAD | CLONE_VM;
    filter.allow_if(SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, thread, thread));
  }
  if (!rules.executable.empty()) {
    for (const int call :
         {SCMP_SYS(execve), SCMP_SYS(set_tid_address), SCMP_SYS(dup2), SCMP_SYS(chmod), SCMP_SYS(setrlimit)})
      filter.allow(call);
  }
  // Flags, locks and copies of descriptors; not F_SETOWN and F_SETSIG, by which a pipe signals any process of the user.
  filter.allow_if(SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_LE, F_SETLKW));
  filter.allow_if(SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, F_DUPFD_CLOEXEC));
  // abort() signals its own process; nobody else's.
  filter.allow_if(SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(::getpid())));
  // glibc falls back to the older call on ENOSYS; isatty() must not raise; limits may be read but not set.
  filter.answer(SCMP_SYS(clone3), ENOSYS);
  filter.answer(SCMP_SYS(openat2), ENOSYS);
  filter.answer(SCMP_SYS(ioctl), ENOTTY);
  filter.allow_if(SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_EQ, 0));
  const int rc = filter.load();
  return rc == 0 ? "" : std::string("seccomp: ") + std::strerror(-rc);
}

}  // namespace

Outcome seal(const Rules& rules) {
  const int abi = landlock_abi();  // no longer askable once sealed
  std::string failed = set_limit(RLIMIT_CORE, 0, "core limit");
  if (failed.empty() && rules.cpu_seconds > 0) failed = set_limit(RLIMIT_CPU, rules.cpu_seconds, "CPU limit");
  if (failed.empty() && rules.file_bytes > 0) failed = set_limit(RLIMIT_FSIZE, rules.file_bytes, "file limit");
  if (failed.empty() && rules.memory_bytes > 0) failed = set_limit(RLIMIT_AS, rules.memory_bytes, "memory limit");
  ::prctl(PR_SET_DUMPABLE, 0);  // siblings of the same user cannot look inside
  if (failed.empty()) failed = restrict_files(rules.readable, rules.writable, rules.executable);
  if (failed.empty()) failed = restrict_calls(rules);
  if (!failed.empty()) return {false, "", "cannot seal the process: " + failed};
  return {true, "landlock abi " + std::to_string(abi) + " + seccomp", ""};
}

Outcome probe() {
  int channel[2];
  if (::pipe2(channel, O_CLOEXEC) != 0) return {false, "", std::string("pipe: ") + std::strerror(errno)};
  const pid_t child = ::fork();
  if (child == 0) {
    const Outcome outcome = seal({});
    const std::string said = (outcome.sealed ? "+" : "-") + (outcome.sealed ? outcome.how : outcome.error);
    const ssize_t n = ::write(channel[1], said.data(), said.size());
    ::_exit(n > 0 ? 0 : 1);
  }
  ::close(channel[1]);
  char said[512] = {};
  const ssize_t n = child > 0 ? ::read(channel[0], said, sizeof said - 1) : -1;
  ::close(channel[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  if (n <= 0) return {false, "", "cannot seal the process: the trial child said nothing"};
  const std::string text(said + 1);
  return said[0] == '+' ? Outcome{true, text, ""} : Outcome{false, "", text};
}

}  // namespace kagent::seal
