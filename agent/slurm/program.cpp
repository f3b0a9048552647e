#include "agent/slurm/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "agent/base/printable.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace kagent::slurm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostBytes = std::size_t{16} << 20;

struct Pipe {
  std::array<int, 2> end = {-1, -1};
  Pipe() {
    if (::pipe2(end.data(), O_CLOEXEC) != 0) end = {-1, -1};
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close(std::size_t i) {
    if (end[i] >= 0) ::close(end[i]);
    end[i] = -1;
  }
};

// Reads both until they end. False: the deadline passed.
bool read_both(Pipe& out, Pipe& err, Clock::time_point deadline, std::string& printed, std::string& said) {
  while (out.end[0] >= 0 || err.end[0] >= 0) {
    std::array<pollfd, 2> ready = {pollfd{out.end[0], POLLIN, 0}, pollfd{err.end[0], POLLIN, 0}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    if (::poll(ready.data(), ready.size(), static_cast<int>(left)) < 0 && errno != EINTR) return false;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].revents == 0) continue;
      std::array<char, 4096> part{};
      const ssize_t n = ::read(ready[i].fd, part.data(), part.size());
      std::string& text = i == 0 ? printed : said;
      if (n > 0 && text.size() < kMostBytes) text.append(part.data(), static_cast<std::size_t>(n));
      if (n <= 0) (i == 0 ? out : err).close(0);
    }
  }
  return true;
}

}  // namespace

Result<std::string> run_program(const std::vector<std::string>& argv, const std::string& input, double most_s) {
  Pipe in;
  Pipe out;
  Pipe err;
  if (in.end[0] < 0 || out.end[0] < 0 || err.end[0] < 0) return Error{Code::kIo, "no pipe: too many open files"};
  // Small enough for the pipe, so that writing it all before the program reads cannot block.
  if (input.size() > 32'768) return Error{Code::kInternal, "input larger than a pipe holds"};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.end[0], 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.end[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, err.end[1], 2);
  // A group of its own: Ctrl-C asks kagent to stop, and kagent decides.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));  // NOLINT: posix_spawn's type
  words.push_back(nullptr);
  pid_t pid = -1;
  const int failed = ::posix_spawnp(&pid, words[0], &actions, &attributes, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    return Error{failed == ENOENT ? Code::kNotFound : Code::kIo,
                 fmt::format("cannot run {}: {}", argv[0], std::strerror(failed))};
  }
  in.close(0);
  out.close(1);
  err.close(1);
  // A program that ends without reading is no error: its exit code says what was wrong.
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  [[maybe_unused]] const ssize_t written = ::write(in.end[1], input.data(), input.size());
  ::sigaction(SIGPIPE, &before, nullptr);
  in.close(1);

  std::string printed;
  std::string said;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(most_s));
  const bool in_time = read_both(out, err, deadline, printed, said);
  if (!in_time) ::kill(-pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) return Error{Code::kTimeout, fmt::format("{} did not answer within {:.0f} s", argv[0], most_s)};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return printed;
  const std::string line = printable(said.substr(0, said.find('\n'))).substr(0, 500);
  return Error{Code::kIo, fmt::format("{} failed: {}", argv[0], line.empty() ? "it said nothing" : line)};
}

}  // namespace kagent::slurm
