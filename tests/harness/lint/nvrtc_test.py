"""The lint on what NVRTC makes of CUDA, in the compiler's answer. Needs no GPU."""
import json
import os
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["KAGENT_COMPILE"]
CUDA = os.environ.get("KAGENT_CUDA_ROOT", "")

HONEST = {
    "cub's block reduction": ("", """#include <cub/block/block_reduce.cuh>
extern "C" __global__ void k(const float* x, float* y) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ Reduce::TempStorage storage;
  const float sum = Reduce(storage).Sum(x[threadIdx.x]);
  if (threadIdx.x == 0) y[0] = sum;
}"""),
    "cooperative groups' grid barrier": ("trap", """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x];
  cg::this_grid().sync();
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  y[threadIdx.x] += cg::reduce(warp, x[threadIdx.x], cg::plus<float>());
  cg::this_cluster().sync();
}"""),
    "libcu++'s barrier": ("timer nanosleep", """#include <cuda/barrier>
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ float s[128];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(s + threadIdx.x, x + threadIdx.x, sizeof(float), barrier);
  barrier.arrive_and_wait();
  y[threadIdx.x] = s[127 - threadIdx.x];
}"""),
    "libcu++'s atomics": ("timer nanosleep", """#include <cuda/atomic>
extern "C" __global__ void k(float* y, int* count) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ref(*count);
  ref.fetch_add(1);
  ref.wait(0);
  while (ref.load() < 10) {}
  y[threadIdx.x] = ref.load();
}"""),
    "functions with tables": ("", """__device__ static const float table[4] = {1, 2, 3, 4};
__constant__ float weights[4] = {1, 2, 3, 4};
__device__ const float* const tables[2] = {table, table + 1};
__device__ __noinline__ float look(const float* t, int i) { return t[i] * t[i + 1]; }
extern "C" __global__ void k(const float* x, float* y, int i) {
  y[i] = sinf(x[i]) + cosf(x[i]) + (float)sin((double)x[1]) + lgammaf(x[2]) + table[i & 3] + weights[i & 3] + look(table, i) + tables[i & 1][i & 1];
}"""),
    "cache hints that keep nothing": ("", """extern "C" __global__ void k(const float* x, float* y) {
  float v;
  asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(x));
  __stcs(y, v);
}"""),
}

# Source and the rule that rejects it.
ATTACKS = {
    "a counter": ("module_state", "__device__ int counter;\nKERNEL { counter++; y[0] = counter; }"),
    "a static local": ("module_state", "KERNEL { static int n = 0; y[0] = ++n; }"),
    "an atomic": ("module_state", "__device__ unsigned n;\nKERNEL { y[0] = atomicAdd(&n, 1u); }"),
    "a variable of inline asm": ("module_state", 'KERNEL { int r; asm volatile("{.global .u32 hid" "den; atom.global.add.u32 %0, [hidden], 1;}" : "=r"(r)); y[0] = r; }'),
    "a function that gives the pointer": ("module_state", "__device__ float cache[9];\n__device__ __noinline__ float* get(int i) { return cache + (i & 7); }\nKERNEL { float* p = get(i); y[0] = *p; *p = 3; }"),
    "a function that takes the pointer": ("module_state", "__device__ float cache[9];\n__device__ __noinline__ void put(float* p, int i) { p[i] = i; }\nKERNEL { put(cache, i); put(y, i); }"),
    "a pointer through shared memory": ("module_state", "__device__ float cache[9];\nKERNEL { __shared__ float* volatile p; p = cache; __syncthreads(); y[0] = p[i]; p[i] = 1; }"),
    "a pointer through a tensor": ("module_state", "__device__ float cache[9];\nKERNEL { *(float**)y = cache; }"),
    "a pointer in pieces": ("module_state", "__device__ float cache[9];\nKERNEL { unsigned long long a = (unsigned long long)cache; int low = (int)a ^ i; y[0] = *(float*)((a >> 32 << 32) | (unsigned)(low ^ i)) ; *(float*)((a >> 32 << 32) | (unsigned)(low ^ i)) = 1; }"),
    "a pointer through a function pointer": ("module_state", "__device__ float cache[9];\n__device__ __noinline__ void a(float* p) { *p = 1; }\n__device__ __noinline__ void b(float* p) { *p += 2; }\nKERNEL { auto f = i & 1 ? a : b; f(cache); f(y); }"),
    "const_cast on a table": ("module_state", "__device__ const float t[4] = {1, 2, 3, 4};\nKERNEL { y[0] = t[i]; *const_cast<float*>(t + i) = 3; }"),
    "a write to constants by asm": ("module_state", '__constant__ float c[4] = {1, 2, 3, 4};\nKERNEL { asm volatile("st.f32 [%0], %1;" :: "l"(&c[i]), "f"(3.f) : "memory"); y[0] = c[1]; }'),
    "managed memory": ("module_state", "__managed__ int n;\nKERNEL { y[0] = n++; }"),
    "a clock in the output": ("timer_reaches_store", "KERNEL { y[0] = clock64(); }"),
    "a pasted clock in a branch": ("timer_reaches_store", "#define PASTE(a, b) a##b\nKERNEL { if (PASTE(clo, ck64)() & 1) y[0] = 1; else y[1] = 2; }"),
    "a clock of split strings": ("timer_reaches_store", 'KERNEL { long long t; asm volatile("mov.u64 %0, %%glo" "baltimer;" : "=l"(t)); y[0] = t > 5 ? 1 : y[1]; }'),
    "printf": ("extern_call", 'KERNEL { printf("RESULT: OK %d", i); }'),
    "malloc": ("extern_call", "KERNEL { *(void**)y = malloc(5); }"),
    "a grid counter": ("special_register", 'KERNEL { long long g; asm volatile("mov.u64 %0, %%gridid;" : "=l"(g)); y[0] = g; }'),
    "the grid barrier's memory": ("workspace_reaches_store", '#include <cooperative_groups.h>\nKERNEL { auto g = cooperative_groups::this_grid(); auto t = g.barrier_arrive(); y[0] = *(unsigned*)&t; g.barrier_wait(static_cast<decltype(t)&&>(t)); }'),
}


class Lint(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        argv = [PROGRAM, "--cache", cls.folder.name] + (["--cuda", CUDA] if CUDA else [])
        cls.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        hello = cls.ask(cmd="hello")
        if not hello["ok"]:
            raise unittest.SkipTest(hello["error"]["message"])

    @classmethod
    def tearDownClass(cls):
        cls.process.stdin.close()
        cls.process.wait()
        cls.process.stdout.close()
        cls.folder.cleanup()

    @classmethod
    def ask(cls, **request) -> dict:
        cls.process.stdin.write(json.dumps(request) + "\n")
        cls.process.stdin.flush()
        return json.loads(cls.process.stdout.readline())

    def lint(self, source: str) -> dict:
        source = source.replace("KERNEL", 'extern "C" __global__ void k(float* y, int i)')
        reply = self.ask(cmd="compile", source=source, arch="sm_90a", names=["k"])
        self.assertTrue(reply["ok"], reply.get("log"))
        return reply["lint"]

    def test_honest_code_of_nvidias_libraries_is_not_rejected(self):
        for name, (flags, source) in HONEST.items():
            with self.subTest(name):
                findings = self.lint(source)["findings"]
                self.assertEqual([f for f in findings if f["level"] == "reject"], [])
                self.assertEqual(sorted({f["rule"] for f in findings if f["level"] == "flag"}), sorted(flags.split()))

    def test_attacks_are_rejected(self):
        for name, (rule, source) in ATTACKS.items():
            with self.subTest(name):
                found = [f["rule"] for f in self.lint(source)["findings"] if f["level"] == "reject"]
                self.assertIn(rule, found)
                self.assertEqual(set(found) - {rule}, set(), "one attack, one rule")

    def test_findings_name_the_answers_line_and_come_back_from_the_cache(self):
        source = '__device__ int n;\nextern "C" __global__ void k(float* y) {\n  y[0] = 1;\n  n = 2;\n}\n'
        for _ in range(2):
            found = self.lint(source)["findings"]
            self.assertEqual([(f["rule"], f["kernel"], f["line"]) for f in found if f["level"] == "reject"], [("module_state", "k", 4)])
            self.assertIn("variable n:", found[0]["what"])

    def test_arithmetic_is_named(self):
        source = """#include <cuda_fp16.h>
KERNEL { y[i] = __half2float(__hadd(__float2half(y[0]), __float2half(y[1]))) + __uint_as_float(__float_as_uint(y[2]) & 0xffff0000u); }"""
        lint = self.lint(source)
        self.assertEqual(lint["arithmetic"], ["fp16", "fp32"])
        self.assertIn("may be bf16 by masking", " ".join(f["what"] for f in lint["findings"]))

    def test_a_split_cache_hint_is_flagged(self):
        source = 'KERNEL { float v; asm volatile("ld.global.L1::ev" "ict_last.f32 %0, [%1];" : "=f"(v) : "l"(y)); y[i] = v; }'
        self.assertEqual([(f["rule"], f["level"]) for f in self.lint(source)["findings"]], [("cache_policy", "flag")])


if __name__ == "__main__":
    unittest.main()
