#include "agent/judge/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace kagent {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxAnswerBytes = std::size_t{256} << 20;

std::string from_environment(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : fallback;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  out.reserve(strings.size() + 1);
  for (auto& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

int milliseconds_left(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1'000'000'000));
}

bool child_has_ended(pid_t pid) {
  siginfo_t info = {};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

}  // namespace

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("exited with code {}", WEXITSTATUS(status));
}

std::string tail_of_file(const std::string& path, std::size_t bytes) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return "";
  const auto size = static_cast<std::size_t>(in.tellg());
  in.seekg(static_cast<std::streamoff>(size > bytes ? size - bytes : 0));
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string last_said(const std::string& log) {
  const std::size_t end = log.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return "";
  const std::size_t newline = log.find_last_of('\n', end);
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  return "; it last said: " + log.substr(begin, end + 1 - begin);
}

std::vector<std::string> minimal_environment(const std::string& gpu, const std::string& home) {
  std::vector<std::string> env = {
      "PATH=" + from_environment("PATH", "/usr/local/bin:/usr/bin:/bin"),
      "HOME=" + home,
      "TMPDIR=" + home,
      "LANG=C.UTF-8",
      "CUDA_VISIBLE_DEVICES=" + gpu,
      "CUDA_CACHE_DISABLE=1",  // CUDA's own disk cache would be a channel between samples
  };
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) env.push_back(std::string("LD_LIBRARY_PATH=") + path);
  return env;
}

Result<std::string> make_home() {
  std::string home = (std::filesystem::temp_directory_path() / "kagent-XXXXXX").string();
  if (::mkdtemp(home.data()) == nullptr) {
    return Error{Code::kIo, fmt::format("cannot make a temporary folder {}: {}", home, std::strerror(errno))};
  }
  return home;
}

Result<int> open_log(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return Error{Code::kIo, fmt::format("cannot write {}: {}", path, std::strerror(errno))};
  return fd;
}

Result<pid_t> spawn_process(const SpawnRequest& request) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, request.in, 0);
  posix_spawn_file_actions_adddup2(&actions, request.out, 1);
  posix_spawn_file_actions_adddup2(&actions, request.err, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  std::vector<std::string> argv = request.spec.argv;
  std::vector<std::string> env = request.environment;
  pid_t pid = -1;
  const int rc =
      ::posix_spawnp(&pid, argv[0].c_str(), &actions, &attributes, pointers(argv).data(), pointers(env).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (rc == 0) return pid;
  return Error{
      rc == ENOENT ? Code::kNotFound : Code::kIo,
      fmt::format("cannot start the {} ({}): {}; run `kagent doctor`", request.spec.name, argv[0], std::strerror(rc))};
}

Result<std::unique_ptr<Child>> Child::start(const ChildSpec& spec, const Spawn& spawn) {
  // A child that dies while we write to it must be an answer, not the end of kagent.
  ::signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<Child> child(new Child());
  child->name_ = spec.name;
  Result<std::string> home = make_home();
  if (!home) return home.error();
  child->home_ = home.value();
  child->log_path_ = spec.log_path.empty() ? child->home_ + "/stderr" : spec.log_path;
  Result<int> log = open_log(child->log_path_);
  if (!log) return log.error();
  int err = log.value();
  int in[2] = {-1, -1};
  int out[2] = {-1, -1};
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
    const Error error{Code::kIo, fmt::format("pipe: {}", std::strerror(errno))};
    for (int* fd : {&in[0], &in[1], &err}) close_fd(*fd);
    return error;
  }
  child->to_child_ = in[1];
  child->from_child_ = out[0];
  Result<pid_t> pid = spawn({spec, minimal_environment(spec.gpu, child->home_), in[0], out[1], err});
  for (int* fd : {&in[0], &out[1], &err}) close_fd(*fd);
  if (!pid) {
    close_fd(child->to_child_);
    close_fd(child->from_child_);
    return pid.error();
  }
  child->pid_ = pid.value();
  return child;
}

Child::~Child() {
  kill();
  std::error_code ignored;
  if (!home_.empty()) std::filesystem::remove_all(home_, ignored);
}

void Child::kill() {
  if (pid_ > 0) reap();
}

void Child::interrupt() {
  const pid_t pid = pid_;
  if (pid > 0) ::kill(-pid, SIGKILL);
}

std::string Child::reap() {
  // A child that has closed its end is about to exit: its own status says more than our signal.
  int status = 0;
  for (int tries = 0; tries < 20; ++tries) {
    pollfd closed = {from_child_, POLLIN, 0};
    if (::poll(&closed, 1, 0) == 0 || (closed.revents & POLLHUP) == 0) break;
    if (child_has_ended(pid_)) break;
    ::usleep(10'000);
  }
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  close_fd(to_child_);
  close_fd(from_child_);
  buffer_.clear();
  return how_it_ended(status);
}

nlohmann::json read_answer(std::string_view line) {
  constexpr int kMostDeep = kMaxJsonDepth / 2;  // a verdict, and the log's line around it, are some levels more
  Result<nlohmann::json> answer = parse_json(line, kMostDeep);
  if (!answer || !answer.value().is_object()) return nullptr;
  const auto ok = answer.value().find("ok");
  return ok != answer.value().end() && ok->is_boolean() ? std::move(answer).value() : nlohmann::json();
}

ChildReply Child::ask(const nlohmann::json& request, std::chrono::duration<double> deadline) {
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(deadline);
  ChildReply reply;
  const auto finish = [&](Fate fate, std::string detail) {
    reply.fate = fate;
    reply.detail = std::move(detail);
    reply.elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
    return reply;
  };
  if (!alive()) return finish(Fate::kDied, "the process is gone");

  const std::string line = request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::size_t sent = 0;
  while (true) {
    const std::size_t newline = buffer_.find('\n');
    if (newline != std::string::npos) {
      reply.answer = read_answer(std::string_view(buffer_).substr(0, newline));
      buffer_.erase(0, newline + 1);
      if (reply.answer.is_null()) {
        reap();
        return finish(Fate::kGarbled, "the answer is not a JSON object with \"ok\"");
      }
      return finish(Fate::kAnswered, "");
    }
    if (buffer_.size() > kMaxAnswerBytes) {
      reap();
      return finish(Fate::kGarbled, "the answer is longer than 256 MiB");
    }
    pollfd fds[2] = {{from_child_, POLLIN, 0}, {sent < line.size() ? to_child_ : -1, POLLOUT, 0}};
    const int left_ms = milliseconds_left(end);
    const int ready = ::poll(fds, 2, left_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      reap();
      return finish(Fate::kDeadline, fmt::format("no answer within {:.0f} s", deadline.count()));
    }
    if ((fds[1].revents & POLLOUT) != 0) {
      // Pipes take at most 64 KiB; a blocking write of one page after POLLOUT does not block.
      const std::size_t chunk = std::min<std::size_t>(line.size() - sent, 4096);
      const ssize_t n = ::write(to_child_, line.data() + sent, chunk);
      if (n > 0) sent += static_cast<std::size_t>(n);
      if (n < 0 && errno != EINTR && errno != EAGAIN && errno != EPIPE) return finish(Fate::kDied, reap());
      if (n < 0 && errno == EPIPE) return finish(Fate::kDied, reap());
    }
    if ((fds[0].revents & (POLLIN | POLLHUP)) != 0) {
      char chunk[65536];
      const ssize_t n = ::read(from_child_, chunk, sizeof chunk);
      if (n > 0) buffer_.append(chunk, static_cast<std::size_t>(n));
      if (n == 0 || (n < 0 && errno != EINTR)) return finish(Fate::kDied, reap());
    }
  }
}

std::string Child::stderr_tail(std::size_t bytes) const { return tail_of_file(log_path_, bytes); }

}  // namespace kagent
