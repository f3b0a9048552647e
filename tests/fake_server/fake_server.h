// Starts tests/fake_server/server.py on a free port for as long as the object lives.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

extern char** environ;

namespace kagent {

class FakeServer {
 public:
  static constexpr const char* kKey = "fake-key-0123456789abcdef";

  explicit FakeServer(const std::vector<std::string>& arguments = {}) {
    int to_child[2], from_child[2];
    if (::pipe2(to_child, O_CLOEXEC) != 0 || ::pipe2(from_child, O_CLOEXEC) != 0) return;
    std::vector<std::string> words = {"python3", KAGENT_SOURCE_DIR "/tests/fake_server/server.py"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, to_child[0], 0);
    ::posix_spawn_file_actions_adddup2(&actions, from_child[1], 1);
    if (::posix_spawnp(&pid_, "python3", &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(to_child[0]);
    ::close(from_child[1]);
    stdin_ = to_child[1];
    char c = 0;
    while (::read(from_child[0], &c, 1) == 1 && c != '\n') address_ += c;
    ::close(from_child[0]);
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;
  ~FakeServer() {
    ::close(stdin_);  // the server ends with it
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }

  // "http://127.0.0.1:34567"; empty if it did not start.
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  pid_t pid_ = -1;
  int stdin_ = -1;
  std::string address_;
};

}  // namespace kagent
