#include "harness/execute/emulated.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>

#include "harness/execute/run_error.h"

namespace kagent::execute {
namespace {

constexpr std::size_t kArenaBytes = std::size_t{1} << 38;  // addresses; memory is taken as it is touched
constexpr std::size_t kPage = 4096;

[[noreturn]] void cannot(const char* what) {
  throw RunError("no_emulation", std::string("cannot emulate: ") + what + ": " + std::strerror(errno));
}

void send_all(int socket, const void* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t n = ::send(socket, static_cast<const char*>(from) + at, bytes - at, MSG_NOSIGNAL);
    if (n <= 0) return;  // the process has ended; receive() says so
    at += static_cast<std::size_t>(n);
  }
}

// Text of a fixed field, whatever is in it.
template <std::size_t N>
std::string text_of(const char (&field)[N]) {
  std::string text(field, ::strnlen(field, N));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
  }
  return text;
}

std::string place(const std::uint32_t (&at)[3]) {
  return "(" + std::to_string(at[0]) + ", " + std::to_string(at[1]) + ", " + std::to_string(at[2]) + ")";
}

}  // namespace

EmulatedProgram::EmulatedProgram(Emulation emulation) : emulation_(std::move(emulation)) {
  memory_ = ::memfd_create("kagent-tensors", MFD_CLOEXEC);
  if (memory_ < 0 || ::ftruncate(memory_, kArenaBytes) != 0) cannot("memory to share");
  void* mapped = ::mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory_, 0);
  if (mapped == MAP_FAILED) cannot("memory to share");
  arena_ = static_cast<char*>(mapped);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) cannot("a socket");
  socket_ = ends[0];
  // Over 4 first, so that neither is in the other's way.
  const int theirs = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 16), tensors = ::fcntl(memory_, F_DUPFD_CLOEXEC, 16);
  ::close(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, 2, 1);
  ::posix_spawn_file_actions_adddup2(&actions, theirs, emulate::kSocket);
  ::posix_spawn_file_actions_adddup2(&actions, tensors, emulate::kArena);
  char* argv[] = {emulation_.starter.data(), emulation_.program.data(), nullptr};
  char* environment[] = {nullptr};
  pid_t child = -1;
  const int failed = ::posix_spawn(&child, emulation_.starter.c_str(), &actions, nullptr, argv, environment);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(theirs);
  ::close(tensors);
  if (failed != 0) {
    errno = failed;
    cannot(emulation_.starter.c_str());
  }
  process_ = child;
  emulate::Hello hello;
  receive(&hello, sizeof hello, "the emulated program", std::nullopt);
  if (hello.kernels != emulation_.names.size())
    throw RunError("crashed", "the emulated program has other kernels than it should");
  arena_there_ = hello.arena;
}

EmulatedProgram::~EmulatedProgram() {
  if (socket_ >= 0) ::close(socket_);
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  if (arena_ != nullptr) ::munmap(arena_, kArenaBytes);
  if (memory_ >= 0) ::close(memory_);
}

std::uint32_t EmulatedProgram::index_of(const std::string& kernel) const {
  const auto at = std::find(emulation_.names.begin(), emulation_.names.end(), kernel);
  if (at == emulation_.names.end()) throw RunError("launch_error", "the emulated program has no kernel " + kernel);
  return static_cast<std::uint32_t>(at - emulation_.names.begin());
}

void EmulatedProgram::receive(void* to, std::size_t bytes, const std::string& kernel, std::optional<int> line) {
  using Clock = std::chrono::steady_clock;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(emulation_.deadline_s));
  for (std::size_t at = 0; at < bytes;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) {
      throw RunError("hang",
                     kernel + " did not end within " + std::to_string(static_cast<int>(emulation_.deadline_s)) +
                         " s of emulation: an endless loop, or too much work for a CPU",
                     line);
    }
    pollfd ready = {socket_, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t n = ::read(socket_, static_cast<char*>(to) + at, bytes - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw RunError("crashed", kernel + ": the emulated program ended without a word", line);
    at += static_cast<std::size_t>(n);
  }
}

void EmulatedProgram::fail(const emulate::Report& report, const std::string& kernel, std::optional<int> line) {
  const std::string kind = text_of(report.kind);
  std::string message =
      kernel + ": " + text_of(report.message) + " (block " + place(report.block) + ", thread " + place(report.thread);
  if (report.line > 0) message += ", CUDA line " + std::to_string(report.line);
  throw RunError(kind.empty() ? "crashed" : kind, message + ")", line);
}

void EmulatedProgram::launch(emulate::Launch launch, const std::vector<Argument>& arguments,
                             const std::vector<Piece>& pieces, const std::string& kernel, std::optional<int> line) {
  // Each piece ends near a page's end, and a page that nobody may touch follows.
  std::vector<emulate::Range> ranges;
  std::size_t next = kPage;
  for (const Piece& piece : pieces) {
    const std::size_t room = (piece.bytes + 255) / 256 * 256;
    const std::size_t end = (next + room + kPage - 1) / kPage * kPage;
    const std::size_t begin = end - room;
    if (end + kPage > kArenaBytes)
      throw RunError("out_of_memory", kernel + ": the tensors do not fit into the emulation", line);
    ranges.push_back({begin, begin + piece.bytes, piece.writable ? 1U : 0U, piece.argument});
    next = end + kPage;
    if (piece.bytes != 0) std::memcpy(arena_ + begin, piece.here, piece.bytes);
  }
  launch.arguments = static_cast<std::uint32_t>(arguments.size());
  launch.ranges = static_cast<std::uint32_t>(ranges.size());
  send_all(socket_, &launch, sizeof launch);
  for (const Argument& argument : arguments) {
    std::vector<std::byte> bytes = argument.bytes;
    for (const Pointer& pointer : argument.pointers) {
      const std::uint64_t there = arena_there_ + ranges[pointer.piece].begin + pointer.at;
      std::memcpy(bytes.data() + pointer.offset, &there, sizeof there);
    }
    const auto size = static_cast<std::uint32_t>(bytes.size());
    send_all(socket_, &size, sizeof size);
    send_all(socket_, bytes.data(), bytes.size());
  }
  send_all(socket_, ranges.data(), ranges.size() * sizeof(emulate::Range));
  emulate::Report report;
  receive(&report, sizeof report, kernel, line);
  if (report.ok == 0) fail(report, kernel, line);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].writable && pieces[i].bytes != 0)
      std::memcpy(pieces[i].here, arena_ + ranges[i].begin, pieces[i].bytes);
  }
  // Other launches put other tensors elsewhere: give the memory back when it was much.
  if (next > (std::size_t{1} << 28))
    ::fallocate(memory_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(next));
}

EmulatedLaunch::EmulatedLaunch(const plan::Launch& launch, const plan::Kernel& kernel, EmulatedProgram& program,
                               std::optional<int> line)
    : program_(&program), kernel_(launch.kernel), line_(line) {
  if (launch.cluster) throw RunError("not_emulable", "not emulable: clusters", line);
  plan::Packed packed = plan::pack(launch, kernel);
  if (const auto* problem = std::get_if<plan::Problem>(&packed)) throw RunError("launch_error", problem->message, line);
  arguments_ = std::get<std::vector<plan::PackedArg>>(std::move(packed));
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    writable_.push_back(i >= kernel.params.size() || !kernel.params[i].is_const.value_or(false));
  launch_.kernel = program.index_of(launch.kernel);
  for (int d = 0; d < 3; ++d) {
    launch_.grid[d] = static_cast<std::uint32_t>(launch.grid[static_cast<std::size_t>(d)]);
    launch_.block[d] = static_cast<std::uint32_t>(launch.block[static_cast<std::size_t>(d)]);
  }
  launch_.shared_bytes = static_cast<std::uint64_t>(launch.shared_bytes);
  launch_.cooperative = launch.cooperative ? 1 : 0;
}

void EmulatedLaunch::run(const std::vector<at::Tensor>& environment, bool last_first) {
  std::vector<EmulatedProgram::Argument> arguments;
  std::vector<EmulatedProgram::Piece> pieces;
  std::map<const void*, std::size_t> known;  // by storage
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    EmulatedProgram::Argument argument{arguments_[i].bytes, {}};
    for (const auto& [offset, id] : arguments_[i].pointers) {
      const at::Tensor& tensor = environment[static_cast<std::size_t>(id)];
      const auto [at, is_new] = known.try_emplace(tensor.storage().unsafeGetStorageImpl(), pieces.size());
      if (is_new)
        pieces.push_back({static_cast<char*>(const_cast<void*>(tensor.storage().data())), tensor.storage().nbytes(),
                          false, static_cast<std::uint32_t>(i)});
      EmulatedProgram::Piece& piece = pieces[at->second];
      piece.writable = piece.writable || writable_[i];
      argument.pointers.push_back(
          {offset, at->second, static_cast<std::size_t>(tensor.storage_offset()) * tensor.element_size()});
    }
    arguments.push_back(std::move(argument));
  }
  emulate::Launch launch = launch_;
  launch.last_first = last_first ? 1 : 0;
  program_->launch(launch, arguments, pieces, kernel_, line_);
}

}  // namespace kagent::execute
