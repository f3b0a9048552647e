// The checking build is compiled with -fsanitize=thread and linked against these callbacks instead of the sanitizer's
// library: out-of-bounds accesses to tensors, races in shared memory, shared memory read before it was written.
#include "harness/emulate/runtime/access.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "harness/emulate/runtime/block.h"
#include "harness/emulate/runtime/report.h"

namespace kagent::emulate {
namespace {

bool g_checking = false;
struct Tensor {
  const char* begin;
  const char* end;
  unsigned argument;
};
std::vector<Tensor> g_tensors;
const char* g_arena = nullptr;  // [g_arena, g_arena_end): nothing but tensors is there
const char* g_arena_end = nullptr;

// Who last wrote and read a byte of shared memory, and when: a barrier of the block orders everything before and after
// it, a warp function that of its warp.
struct Shadow {
  std::uint16_t writer = 0;   // thread + 1; 0: nobody
  std::uint16_t reader = 0;   // thread + 1; 0xffff: several
  std::uint32_t written = 0;  // barriers of the block before it
  std::uint32_t written_in_warp = 0;
  std::uint32_t read = 0;
  std::uint32_t read_in_warp = 0;
};
thread_local std::vector<Shadow> t_shadow;  // static shared memory, then dynamic
thread_local int t_unchecked = 0;
constexpr std::uint16_t kSeveral = 0xffff;

bool ordered(const Block& block, unsigned other, unsigned generation, unsigned warp_generation) {
  if (other == block.rank()) return true;
  if (generation != block.generation()) return true;
  return other / 32 == block.rank() / 32 && warp_generation != block.warp_generation();
}

void race(const char* what, unsigned other, const void* site) {
  char message[300];
  const Block& block = *Block::current_block();
  std::snprintf(
      message, sizeof message,
      "race in shared memory: thread %u %s what thread %u of the block wrote or read, with no __syncthreads() between",
      block.rank(), what, other);
  end_program("shared_race", message, line_of(site));
}

// The compiler does not show stores of what a function returns, so only what still holds the poison was surely never
// written; and it keeps bytes of its own beside shared variables that have constructors.
bool poisoned(const char* at, std::size_t bytes) {
  return bytes > 1 && std::all_of(at, at + bytes, [](char c) { return c == '\xff'; });
}

void shared_access(const char* at, std::size_t offset, std::size_t bytes, bool write, const void* site) {
  const Block& block = *Block::current_block();
  const bool never_written = !write && poisoned(at, bytes);
  const auto me = static_cast<std::uint16_t>(block.rank() + 1);
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    Shadow& s = t_shadow[i];
    if (never_written && s.writer == 0)
      end_program("uninitialised_shared", "shared memory is read that no thread of the block has written",
                  line_of(site));
    if (s.writer != 0 && !ordered(block, s.writer - 1u, s.written, s.written_in_warp))
      race(write ? "writes" : "reads", s.writer - 1u, site);
    if (write && s.reader != 0 && s.reader != kSeveral && !ordered(block, s.reader - 1u, s.read, s.read_in_warp))
      race("writes", s.reader - 1u, site);
    if (write && s.reader == kSeveral && s.read == block.generation() && s.read_in_warp == 0xffffffff)
      race("writes", 0, site);
    if (write) {
      s.writer = me;
      s.written = block.generation();
      s.written_in_warp = block.warp_generation();
      s.reader = 0;
    } else {
      const bool new_epoch = s.reader == 0 || s.read != block.generation();
      const bool one_warp = !new_epoch && s.reader != kSeveral && (s.reader - 1u) / 32 == block.rank() / 32;
      s.reader = new_epoch || s.reader == me || (one_warp && s.read_in_warp != block.warp_generation()) ? me : kSeveral;
      // Several readers of one warp are ordered by its functions; of several warps only by a barrier of the block.
      s.read_in_warp = s.reader != kSeveral || (one_warp && s.read_in_warp == block.warp_generation())
                           ? block.warp_generation()
                           : 0xffffffff;
      s.read = block.generation();
    }
  }
}

}  // namespace

bool checking() { return g_checking; }
void set_checking() { g_checking = true; }

void set_tensors(const char* arena, std::size_t bytes, const Range* ranges, unsigned count) {
  g_arena = arena;
  g_arena_end = arena + bytes;
  g_tensors.clear();
  for (unsigned i = 0; i < count; ++i)
    g_tensors.push_back({arena + ranges[i].begin, arena + ranges[i].end, ranges[i].argument});
  std::sort(g_tensors.begin(), g_tensors.end(), [](const Tensor& a, const Tensor& b) { return a.begin < b.begin; });
}

void access_block_begins(const Block& block) {
  if (!g_checking) return;
  const auto [begin, end] = static_shared();
  t_shadow.assign(static_cast<std::size_t>(end - begin) + block.shared_bytes(), Shadow{});
}

void describe_address(const void* address, char* text, std::size_t room) {
  const char* at = static_cast<const char*>(address);
  const Tensor* before = nullptr;
  for (const Tensor& tensor : g_tensors) {
    if (tensor.begin <= at) before = &tensor;
  }
  if (before != nullptr && at - before->end < (std::ptrdiff_t{1} << 40)) {
    const auto bytes = static_cast<long long>(before->end - before->begin);
    if (at < before->end) {
      std::snprintf(text, room,
                    "illegal memory access: write to args[%u], a tensor of %lld bytes that the kernel takes as const",
                    before->argument, bytes);
    } else {
      std::snprintf(text, room, "illegal memory access, %lld bytes past the end of args[%u], a tensor of %lld bytes",
                    static_cast<long long>(at - before->end), before->argument, bytes);
    }
  } else if (!g_tensors.empty() && at < g_tensors.front().begin &&
             g_tensors.front().begin - at < (std::ptrdiff_t{1} << 40)) {
    std::snprintf(text, room, "illegal memory access, %lld bytes before the start of args[%u]",
                  static_cast<long long>(g_tensors.front().begin - at), g_tensors.front().argument);
  } else {
    std::snprintf(text, room, "illegal memory access at address %p, which is in no tensor", address);
  }
}

Unchecked::Unchecked() { ++t_unchecked; }
Unchecked::~Unchecked() { --t_unchecked; }

// One access of the answer's code.
void seen(const void* address, std::size_t bytes, bool write, const void* site) {
  const char* at = static_cast<const char*>(address);
  const Block* block = Block::current_block();
  if (block == nullptr) return;
  const auto [begin, end] = static_shared();
  const char* dynamic = static_cast<const char*>(block->shared());
  if (t_unchecked == 0 && at >= begin && at + bytes <= end) {
    shared_access(at, static_cast<std::size_t>(at - begin), bytes, write, site);
    return;
  }
  if (dynamic != nullptr && at >= dynamic && at < dynamic + block->shared_bytes() + 4096) {
    if (at + bytes > dynamic + block->shared_bytes())
      end_program("illegal_access", "access past the end of dynamic shared memory", line_of(site));
    if (t_unchecked == 0)
      shared_access(at, static_cast<std::size_t>(end - begin) + static_cast<std::size_t>(at - dynamic), bytes, write,
                    site);
    return;
  }
  if (at < g_arena || at >= g_arena_end) return;  // a stack, a module's variables
  const auto next = std::upper_bound(g_tensors.begin(), g_tensors.end(), at,
                                     [](const char* p, const Tensor& tensor) { return p < tensor.begin; });
  const Tensor* tensor = next == g_tensors.begin() ? nullptr : &*std::prev(next);
  if (tensor != nullptr && at + bytes <= tensor->end) return;
  char message[300];
  describe_address(at, message, sizeof message);
  if (tensor != nullptr && at < tensor->end) {
    std::snprintf(message, sizeof message,
                  "illegal memory access that runs past the end of args[%u], a tensor of %lld bytes", tensor->argument,
                  static_cast<long long>(tensor->end - tensor->begin));
  }
  end_program("illegal_access", message, line_of(site));
}

}  // namespace kagent::emulate

// The compiler's interface (gcc's libsanitizer, tsan_interface.h): an instrumented access calls one of these first.
#define KAGENT_ACCESS(size)                                                                                         \
  void __tsan_read##size(void* p) { kagent::emulate::seen(p, size, false, __builtin_return_address(0)); }           \
  void __tsan_write##size(void* p) { kagent::emulate::seen(p, size, true, __builtin_return_address(0)); }           \
  void __tsan_unaligned_read##size(void* p) { kagent::emulate::seen(p, size, false, __builtin_return_address(0)); } \
  void __tsan_unaligned_write##size(void* p) { kagent::emulate::seen(p, size, true, __builtin_return_address(0)); } \
  void __tsan_volatile_read##size(void* p) { kagent::emulate::seen(p, size, false, __builtin_return_address(0)); }  \
  void __tsan_volatile_write##size(void* p) { kagent::emulate::seen(p, size, true, __builtin_return_address(0)); }
#define KAGENT_ATOMIC(bits, type)                                                                               \
  type __tsan_atomic##bits##_load(const volatile type* p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); } \
  void __tsan_atomic##bits##_store(volatile type* p, type v, int) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); } \
  type __tsan_atomic##bits##_exchange(volatile type* p, type v, int) {                                          \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                                         \
  }                                                                                                             \
  type __tsan_atomic##bits##_fetch_add(volatile type* p, type v, int) {                                         \
    return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                             \
  bool __tsan_atomic##bits##_compare_exchange_strong(volatile type* p, type* c, type v, int, int) {             \
    return __atomic_compare_exchange_n(p, c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                     \
  }                                                                                                             \
  bool __tsan_atomic##bits##_compare_exchange_weak(volatile type* p, type* c, type v, int, int) {               \
    return __atomic_compare_exchange_n(p, c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                     \
  }
extern "C" {
void __tsan_init() { kagent::emulate::set_checking(); }
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void* p, unsigned long n) { kagent::emulate::seen(p, n, false, __builtin_return_address(0)); }
void __tsan_write_range(void* p, unsigned long n) { kagent::emulate::seen(p, n, true, __builtin_return_address(0)); }
KAGENT_ACCESS(1)
KAGENT_ACCESS(2)
KAGENT_ACCESS(4)
KAGENT_ACCESS(8)
KAGENT_ACCESS(16)
KAGENT_ATOMIC(8, unsigned char)
KAGENT_ATOMIC(16, unsigned short)
KAGENT_ATOMIC(32, unsigned int)
KAGENT_ATOMIC(64, unsigned long)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}
}
