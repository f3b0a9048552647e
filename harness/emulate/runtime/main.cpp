// An emulated program: the answer's kernels and this. Started sealed (seal_exec.cpp), it has a socket and the tensors'
// memory and runs one launch after the other until the socket closes.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "harness/emulate/runtime/access.h"
#include "harness/emulate/runtime/launch.h"
#include "harness/emulate/runtime/report.h"

namespace kagent::emulate {
namespace {

constexpr std::size_t kPage = 4096;

bool read_all(void* to, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t n = ::read(kSocket, static_cast<char*>(to) + at, bytes - at);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

bool write_all(const void* from, std::size_t bytes) {
  return ::write(kSocket, from, bytes) == static_cast<ssize_t>(bytes);  // small and blocking
}

struct Arguments {
  std::vector<std::unique_ptr<std::uint64_t[]>> bytes;  // aligned for any parameter
  std::vector<void*> pointers;
};

bool read_arguments(unsigned count, Arguments& out) {
  for (unsigned i = 0; i < count; ++i) {
    std::uint32_t size = 0;
    if (!read_all(&size, sizeof size) || size > (1U << 16)) return false;
    // 16-byte alignment for float4 and its like.
    auto room = std::make_unique<std::uint64_t[]>(size / 8 + 4);
    auto* at = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(room.get()) + 15) & ~std::uintptr_t{15});
    if (!read_all(at, size)) return false;
    out.pointers.push_back(at);
    out.bytes.push_back(std::move(room));
  }
  return true;
}

// Only the tensors of the launch can be touched, whole pages around them.
void open_tensors(char* arena, std::size_t bytes, const std::vector<Range>& ranges) {
  ::mprotect(arena, bytes, PROT_NONE);
  for (const Range& range : ranges) {
    const std::size_t begin = range.begin / kPage * kPage, end = (range.end + kPage - 1) / kPage * kPage;
    ::mprotect(arena + begin, end - begin, range.writable != 0 ? PROT_READ | PROT_WRITE : PROT_READ);
  }
  set_tensors(arena, bytes, ranges.data(), static_cast<unsigned>(ranges.size()));
}

int serve() {
  struct stat info = {};
  if (::fstat(kArena, &info) != 0) return 2;
  const auto bytes = static_cast<std::size_t>(info.st_size);
  void* mapped = ::mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, kArena, 0);
  if (mapped == MAP_FAILED) return 2;
  auto* arena = static_cast<char*>(mapped);
  catch_signals();
  signal_stack_of_thread();
  line_of(reinterpret_cast<const void*>(&serve));  // reads the debug information now, not in a signal handler
  Hello hello;
  hello.arena = reinterpret_cast<std::uint64_t>(arena);
  hello.kernels = kagent_kernel_count;
  hello.checking = checking() ? 1 : 0;
  if (!write_all(&hello, sizeof hello)) return 2;
  Launch launch;
  while (read_all(&launch, sizeof launch)) {
    Arguments arguments;
    std::vector<Range> ranges(launch.ranges);
    if (!read_arguments(launch.arguments, arguments) || !read_all(ranges.data(), ranges.size() * sizeof(Range)))
      return 2;
    if (launch.kernel >= kagent_kernel_count || kagent_kernels[launch.kernel].parameters != launch.arguments) return 2;
    open_tensors(arena, bytes, ranges);
    run_launch(kagent_kernels[launch.kernel], launch, arguments.pointers.data());
    Report report;
    report.ok = 1;
    if (!write_all(&report, sizeof report)) return 2;
  }
  return 0;
}

}  // namespace
}  // namespace kagent::emulate

int main() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::_exit(kagent::emulate::serve());
}
