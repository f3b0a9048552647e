#include "harness/emulate/runtime/launch.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "harness/emulate/runtime/report.h"

namespace kagent::emulate {
namespace {

constexpr std::uint64_t kMostThreads = 4096;
constexpr auto kPatience = std::chrono::milliseconds(500);

// Threads live as long as the program: their fibers' stacks are kept.
struct Pool {
  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable progress;
  const Kernel* kernel = nullptr;
  Launch launch;
  void** arguments = nullptr;
  std::uint64_t threads = 0;
  std::uint64_t blocks = 0;
  std::uint64_t next = 0;
  std::uint64_t finished = 0;
  bool one_by_one = false;  // a block begins when the one before it has ended
  // The grid's barrier.
  std::condition_variable met;
  std::uint64_t arrived = 0;
  std::uint64_t generation = 0;
};
Pool& pool() {
  static Pool& p = *new Pool;  // never destroyed: threads use it to the end
  return p;
}

[[noreturn]] void serve_blocks() {
  signal_stack_of_thread();
  Block block;
  Pool& p = pool();
  std::unique_lock lock(p.mutex);
  for (;;) {
    p.work.wait(lock, [&] { return p.next < p.blocks && (!p.one_by_one || p.next == p.finished); });
    const std::uint64_t nth = p.next++;
    const std::uint64_t index = p.launch.last_first != 0 ? p.blocks - 1 - nth : nth;
    const Kernel* kernel = p.kernel;
    lock.unlock();
    block.run(*kernel, p.launch, p.arguments, index);
    lock.lock();
    if (++p.finished == p.blocks || p.finished % 64 == 0) p.progress.notify_all();
    if (p.one_by_one) p.work.notify_one();
  }
}

void need_threads(Pool& p, std::uint64_t wanted) {
  for (; p.threads < std::min(wanted, kMostThreads); ++p.threads) {
    try {
      std::thread(serve_blocks).detach();
    } catch (const std::system_error&) {
      end_program("not_emulable", "no room for a thread a block of a launch whose blocks wait for each other", 0);
    }
  }
}

}  // namespace

void wait_for_all_blocks() {
  Pool& p = pool();
  std::unique_lock lock(p.mutex);
  const std::uint64_t generation = p.generation;
  if (++p.arrived == p.blocks) {
    p.arrived = 0;
    ++p.generation;
    p.met.notify_all();
    return;
  }
  p.met.wait(lock, [&] { return p.generation != generation; });
}

void run_launch(const Kernel& kernel, const Launch& launch, void** arguments) {
  Pool& p = pool();
  std::unique_lock lock(p.mutex);
  p.kernel = &kernel;
  p.launch = launch;
  p.arguments = arguments;
  p.next = p.finished = p.arrived = 0;
  p.blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  p.one_by_one = launch.last_first != 0 && launch.cooperative == 0;
  const std::uint64_t cores = std::max(1U, std::thread::hardware_concurrency());
  need_threads(p, launch.cooperative != 0 ? p.blocks : std::min(p.blocks, cores));
  p.work.notify_all();
  while (p.finished < p.blocks) {
    const std::uint64_t before = p.finished;
    p.progress.wait_for(lock, kPatience);
    if (p.finished == before && p.next < p.blocks) {  // do those that run wait for those that have not begun?
      p.one_by_one = false;
      need_threads(p, p.threads + std::min<std::uint64_t>(p.blocks - p.next, 128));
      p.work.notify_all();
    }
  }
  p.blocks = 0;
}

}  // namespace kagent::emulate
