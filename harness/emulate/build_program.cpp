#include "harness/emulate/build_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "harness/emulate/translate.h"
#include "harness/seal/seal.h"

namespace kagent::emulate {
namespace {

namespace fs = std::filesystem;

constexpr int kDeadlineS = 120;
constexpr std::size_t kMostLog = std::size_t{256} << 10;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string cpu_flags() {
  const std::string info = read_file("/proc/cpuinfo");
  const bool wide = info.find(" avx2") != std::string::npos && info.find(" fma") != std::string::npos;
  return wide ? "-march=x86-64-v3" : "";
}

// Compile, then link: what -fsanitize=thread would link is ours (runtime/access.cpp).
// -ffp-contract=fast: a * b + c is one rounding, as NVRTC has it. No -ffast-math: NaN and infinity count.
std::vector<std::string> compile_words(const BuildOptions& options, const std::string& folder) {
  std::vector<std::string> words = {KAGENT_CXX,
                                    "-std=c++20",
                                    "-g1",
                                    "-w",
                                    "-pipe",
                                    "-ffp-contract=fast",
                                    "-fno-strict-aliasing",
                                    "-ftls-model=local-exec",
                                    "-fno-exceptions",
                                    "-fno-pie",
                                    "-c",
                                    folder + "/answer.cpp",
                                    "-o",
                                    folder + "/answer.o"};
  if (const std::string cpu = cpu_flags(); !cpu.empty()) words.push_back(cpu);
  if (options.checking) {
    words.insert(words.end(), {"-O1", "-fsanitize=thread"});
  } else {
    words.emplace_back("-O2");
  }
  for (const std::string& path : options.include) words.push_back("-I" + path);
  return words;
}

// Only what the text itself defines: -undef, no headers.
std::vector<std::string> expand_words(const std::string& folder) {
  return {KAGENT_CXX,          "-E", "-undef",         "-nostdinc", "-std=c++20", "-w", "-x", "c++",
          folder + "/own.cpp", "-o", folder + "/own.i"};
}

std::vector<std::string> link_words(const BuildOptions& options, const std::string& folder) {
  return {KAGENT_CXX,
          "-static",
          "-no-pie",
          "-o",
          folder + "/program",
          options.runtime + "/shared_begin.o",
          folder + "/answer.o",
          options.runtime + "/shared_end.o",
          options.runtime + "/runtime.o",
          "-lpthread"};
}

// Runs in the child: never returns.
[[noreturn]] void become_compiler(const BuildOptions& options, const std::string& folder,
                                  const std::vector<std::string>& words, int log) {
  ::dup2(log, 1);
  ::dup2(log, 2);
  ::close(0);
  ::open("/dev/null", O_RDONLY);
  ::setpgid(0, 0);
  seal::Rules rules;
  rules.executable = {"/usr", "/lib", "/lib64", "/bin", "/etc/alternatives"};
  rules.readable = {"/etc/ld.so.cache", "/dev/null", options.runtime};
  rules.readable.insert(rules.readable.end(), options.include.begin(), options.include.end());
  rules.writable = {folder};
  rules.cpu_seconds = kDeadlineS;
  rules.file_bytes = 256L << 20;
  rules.memory_bytes = 8L << 30;
  rules.allow_fork = true;
  rules.map_executable = true;
  const seal::Outcome sealed = seal::seal(rules);
  if (!sealed.sealed) {
    const ssize_t n = ::write(2, sealed.error.data(), sealed.error.size());
    ::_exit(n > 0 ? 90 : 91);
  }
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::string temporary = "TMPDIR=" + folder;
  char* environment[] = {const_cast<char*>("PATH=/usr/bin:/bin"), const_cast<char*>("LC_ALL=C"),
                         const_cast<char*>(temporary.c_str()), nullptr};
  ::execve(argv[0], argv.data(), environment);
  ::_exit(92);
}

// The compiler's output until it ends. False: the deadline passed.
bool collect(int fd, std::string& log) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kDeadlineS);
  char chunk[16384];
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd ready = {fd, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t n = ::read(fd, chunk, sizeof chunk);
    if (n <= 0) return true;
    if (log.size() < kMostLog) log.append(chunk, static_cast<std::size_t>(n));
  }
}

struct Ended {
  bool ok = false;
  bool in_time = true;
  std::string error;  // kagent's or the machine's fault
};

Ended run_sealed(const BuildOptions& options, const std::string& folder, const std::vector<std::string>& words,
                 std::string& log) {
  int channel[2];
  if (::pipe2(channel, O_CLOEXEC) != 0) return {false, true, "cannot make a pipe for the C++ compiler"};
  const pid_t child = ::fork();
  if (child == 0) become_compiler(options, folder, words, channel[1]);
  ::close(channel[1]);
  Ended ended;
  ended.in_time = child > 0 && collect(channel[0], log);
  ::close(channel[0]);
  if (child < 0) return {false, true, "cannot fork a C++ compiler"};
  if (!ended.in_time) ::kill(-child, SIGKILL);
  int status = -1;
  ::waitpid(child, &status, 0);
  ended.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) >= 90)
    ended.error = WEXITSTATUS(status) == 92 ? std::string("no C++ compiler at " KAGENT_CXX "; install g++") : log;
  return ended;
}

}  // namespace

std::string build_key(const BuildOptions& options) {
  std::string key;
  for (const auto& words : {expand_words(""), compile_words(options, ""), link_words(options, "")}) {
    for (const std::string& word : words) key += word + " ";
  }
  // The runtime, its headers and the translation change with kagent.
  std::error_code no;
  const fs::path self = fs::read_symlink("/proc/self/exe", no);
  key += std::to_string(fs::last_write_time(self, no).time_since_epoch().count()) + "\n";
  for (const std::string& folder :
       {options.include.empty() ? std::string() : options.include.front(), options.runtime}) {
    std::vector<std::string> files;
    std::error_code failed;
    for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
      if (at->is_regular_file(failed))
        files.push_back(at->path().string() + " " + std::to_string(at->file_size(failed)) + " " +
                        std::to_string(at->last_write_time(failed).time_since_epoch().count()));
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) key += file + "\n";
  }
  return key;
}

Program build_program(const BuildOptions& options, const compile::Source& source,
                      const std::vector<std::string>& names) {
  Program out;
  const auto translated = translate(source, names);
  if (const auto* no = std::get_if<NotEmulable>(&translated)) {
    out.reason = no->reason;
    out.line = no->line;
    return out;
  }
  std::string folder = (fs::temp_directory_path() / "kagent-emulate-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    out.error = "cannot make a folder for the C++ compiler";
    return out;
  }
  const std::string& text = std::get<std::string>(translated);
  std::ofstream(folder + "/answer.cpp") << text;
  std::ofstream(folder + "/own.cpp") << own_macros_only(text);
  Ended ended = run_sealed(options, folder, expand_words(folder), out.log);
  std::optional<NotEmulable> hidden;
  if (ended.ok) hidden = hidden_word(read_file(folder + "/own.i"));
  if (ended.ok && !hidden) ended = run_sealed(options, folder, compile_words(options, folder), out.log);
  if (ended.ok && !hidden) ended = run_sealed(options, folder, link_words(options, folder), out.log);
  if (ended.ok) out.bytes = read_file(folder + "/program");
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  out.error = ended.error;
  if (!out.error.empty() || !out.bytes.empty()) return out;
  const NotEmulable why = hidden          ? *hidden
                          : ended.in_time ? reason_in(out.log)
                                          : NotEmulable{"it takes the CPU's compiler too long", 0};
  out.reason = why.reason;
  out.line = why.line;
  return out;
}

}  // namespace kagent::emulate
