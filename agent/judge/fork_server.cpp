#include "agent/judge/fork_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agent/base/json_text.h"

namespace kagent {
namespace {

// One message with three descriptors.
bool send_with_fds(int channel, const std::string& text, const std::array<int, 3>& fds) {
  iovec part = {const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fds)> control = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(header), fds.data(), sizeof fds);
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(channel, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(text.size());
}

}  // namespace

Result<std::unique_ptr<ForkServer>> ForkServer::start(const std::string& python, const std::string& script,
                                                      const std::string& log_path) {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    return Error{Code::kIo, fmt::format("cannot adopt processes: {}", std::strerror(errno))};
  }
  std::unique_ptr<ForkServer> server(new ForkServer());
  auto home = make_home();
  if (!home) return home.error();
  server->home_ = home.value();
  server->log_path_ = log_path.empty() ? server->home_ + "/stderr" : log_path;
  std::array<int, 2> ends = {};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error{Code::kIo, fmt::format("socketpair: {}", std::strerror(errno))};
  }
  server->channel_ = ends[0];
  // A fixed hash seed: the same host program gives the same plan, even one that walks through a set of names.
  const ChildSpec spec{"fork server", {python, "-s", script}, "", server->log_path_};
  std::vector<std::string> environment = minimal_environment("", server->home_);
  environment.emplace_back("PYTHONHASHSEED=0");
  auto log = open_log(server->log_path_);
  if (!log) {
    ::close(ends[1]);
    return log.error();
  }
  auto pid = spawn_process({spec, environment, ends[1], log.value(), log.value()});
  ::close(ends[1]);
  ::close(log.value());
  if (!pid) return pid.error();
  server->pid_ = pid.value();
  return server;
}

ForkServer::~ForkServer() {
  if (channel_ >= 0) ::close(channel_);
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  std::error_code ignored;
  if (!home_.empty()) std::filesystem::remove_all(home_, ignored);
}

Error ForkServer::ended() {
  if (pid_ < 0) return Error{Code::kIo, "the fork server is gone"};
  int status = 0;
  pid_t waited = 0;
  for (int tries = 0; tries < 100 && waited == 0; ++tries) {  // its end of the channel is closed: it is about to exit
    waited = ::waitpid(pid_, &status, WNOHANG);
    if (waited == 0) ::usleep(10'000);
  }
  if (waited == 0) {
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
  return Error{Code::kIo, fmt::format("the fork server {}{}; run `kagent doctor`", how_it_ended(status),
                                      last_said(tail_of_file(log_path_, 2000)))};
}

Result<pid_t> ForkServer::request(const SpawnRequest& request, std::chrono::duration<double> deadline) {
  nlohmann::json environment = nlohmann::json::object();
  for (const std::string& entry : request.environment) {
    const std::size_t equals = entry.find('=');
    environment[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  const std::string text = nlohmann::json{{"argv", request.spec.argv}, {"environment", environment}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);  // a path may hold any byte
  if (!send_with_fds(channel_, text, {request.in, request.out, request.err})) return ended();
  pollfd ready = {channel_, POLLIN, 0};
  int polled = 0;
  do {
    polled = ::poll(&ready, 1, static_cast<int>(deadline.count() * 1000));
  } while (polled < 0 && errno == EINTR);
  if (polled == 0) {
    return Error{Code::kTimeout,
                 fmt::format("the fork server forked no {} within {:.0f} s", request.spec.name, deadline.count())};
  }
  std::array<char, 4096> answer = {};
  const ssize_t n = ::recv(channel_, answer.data(), answer.size(), 0);
  if (n <= 0) return ended();
  const nlohmann::json reply = read_answer({answer.data(), static_cast<std::size_t>(n)});
  if (!reply.is_object() || !flag_or(reply, "ok", false)) {
    return Error{Code::kIo, fmt::format("the fork server could not fork a {}: {}", request.spec.name,
                                        reply.is_object() ? text_or(reply, "message", "no reason given")
                                                          : std::string("garbled answer"))};
  }
  return static_cast<pid_t>(integer_or(reply, "pid", -1));
}

Result<std::unique_ptr<Child>> ForkServer::fork(const ChildSpec& spec, std::chrono::duration<double> deadline) {
  return Child::start(spec, [&](const SpawnRequest& asked) { return request(asked, deadline); });
}

}  // namespace kagent
