"""Wrong kernels: what the emulation and its checking build say of each, and what a hostile one cannot do."""
import os
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernel_runs import Case, Compiler, Kernels, error_of  # noqa: E402


def kernel(body: str, before: str = "") -> str:
    return before + '\nextern "C" __global__ void k(const float* x, float* y, int n) {\n' + body + "\n}\n"


class Wrong(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.compiler = Compiler(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.compiler.close()
        cls.folder.cleanup()

    def run_one(self, body: str, checking: bool, block: int = 64, grid: int = 1, shared: int = 0, before: str = "", deadline_s: float = 30):
        kernels = Kernels(self.compiler, kernel(body, before), ["k"], checking)
        self.assertTrue(kernels.emulated["ok"], kernels.emulated)
        return kernels.run(Case("k", (grid,), (block,), shared, False, True), "cpu", deadline_s)

    def fails(self, body: str, checking: bool, **how) -> dict:
        with self.assertRaises(RuntimeError) as raised:
            self.run_one(body, checking, **how)
        return error_of(raised.exception)

    def test_a_race_in_shared_memory(self):
        body = "__shared__ float s[64];\ns[threadIdx.x] = x[threadIdx.x];\nif (threadIdx.x > 0) y[threadIdx.x] = s[threadIdx.x - 1];"
        error = self.fails(body, True)
        self.assertEqual(error["kind"], "shared_race")
        self.assertIn("CUDA line 5", error["message"])
        self.run_one(body.replace("if (", "__syncthreads();\nif ("), True)

    def test_a_race_between_a_read_and_a_later_write(self):
        body = "__shared__ float s[64];\ns[threadIdx.x] = 1;\n__syncthreads();\nconst float v = s[(threadIdx.x + 32) % 64];\ns[threadIdx.x] = v + 1;\ny[threadIdx.x] = v;"
        self.assertEqual(self.fails(body, True)["kind"], "shared_race")
        self.run_one(body.replace("s[threadIdx.x] = v", "__syncthreads();\ns[threadIdx.x] = v"), True)

    def test_lanes_of_a_warp_need_syncwarp(self):
        body = "__shared__ float s[32];\ns[threadIdx.x] = x[threadIdx.x];\nif (threadIdx.x > 0) y[threadIdx.x] = s[threadIdx.x - 1];"
        self.assertEqual(self.fails(body, True, block=32)["kind"], "shared_race")
        self.run_one(body.replace("if (", "__syncwarp();\nif ("), True, block=32)

    def test_shared_memory_read_before_it_is_written(self):
        error = self.fails("__shared__ float s[128];\ns[threadIdx.x] = 1;\n__syncthreads();\ny[threadIdx.x] = s[threadIdx.x + 64];", True)
        self.assertEqual(error["kind"], "uninitialised_shared")
        self.assertIn("CUDA line 6", error["message"])

    def test_unwritten_shared_memory_holds_no_zeros(self):
        y = self.run_one("__shared__ float s[64];\nif (n < 0) s[threadIdx.x] = 1;\n__syncthreads();\ny[threadIdx.x] = s[threadIdx.x];", False)
        self.assertTrue(bool(y[:64].isnan().all()))

    def test_an_access_past_a_tensor_is_exact_in_the_checking_build(self):
        error = self.fails("y[threadIdx.x == 3 ? n : threadIdx.x] = 1.0f;", True)
        self.assertEqual(error["kind"], "illegal_access")
        self.assertIn("0 bytes past the end of args[1], a tensor of 4096 bytes", error["message"])
        self.assertIn("thread (3, 0, 0)", error["message"])
        self.assertIn("CUDA line 3", error["message"])

    def test_a_read_before_a_tensor(self):
        self.assertIn("4 bytes before the start", self.fails("y[threadIdx.x] = x[static_cast<int>(threadIdx.x) - 1];", True)["message"])

    def test_a_far_access_ends_any_build(self):
        self.assertEqual(self.fails("y[threadIdx.x + 4 * n] = 1.0f;", False)["kind"], "illegal_access")
        self.assertEqual(self.fails("*reinterpret_cast<float*>(16) = 1.0f;", False)["kind"], "illegal_access")

    def test_a_write_to_what_the_kernel_takes_as_const(self):
        source = "__global__ void w(const float* x, float* y, int n) { const_cast<float*>(x)[threadIdx.x] = 1.0f; y[0] = 1.0f; }"
        kernels = Kernels(self.compiler, source, ["w"])
        with self.assertRaises(RuntimeError) as raised:
            kernels.run(Case("w", (1,), (32,), 0, False, True), "cpu")
        self.assertIn("takes as const", error_of(raised.exception)["message"])

    def test_past_dynamic_shared_memory(self):
        error = self.fails("extern __shared__ float s[];\ns[threadIdx.x] = 1;\ny[threadIdx.x] = s[threadIdx.x];", True, shared=128)
        self.assertIn("past the end of dynamic shared memory", error["message"])

    def test_a_divergent_barrier(self):
        body = "if (threadIdx.x < 32) {\n__syncthreads();\n} else {\n__syncthreads();\n}\ny[threadIdx.x] = 1;"
        self.assertEqual(self.fails(body, True)["kind"], "divergent_barrier")

    def test_threads_that_wait_for_ever_are_told_apart_from_slow_ones(self):
        body = "if (threadIdx.x < 16) __shfl_sync(0xffffffffu, 1.0f, 0);\nelse __syncthreads();\ny[threadIdx.x] = 1;"
        self.assertEqual(self.fails(body, False)["kind"], "deadlock")

    def test_a_lane_outside_its_mask(self):
        self.assertEqual(self.fails("y[threadIdx.x] = __shfl_sync(0xffffu, 1.0f, 0);", False)["kind"], "bad_mask")

    def test_an_endless_loop_ends_at_the_deadline(self):
        begin = time.monotonic()
        error = self.fails("while (n > 0) { y[threadIdx.x] += 1.0f; }", False, deadline_s=2)
        self.assertEqual(error["kind"], "hang")
        self.assertLess(time.monotonic() - begin, 20)

    def test_blocks_that_wait_for_later_ones_get_them(self):
        body = "if (threadIdx.x == 0) { atomicAdd(&arrived, 1u); while (kg::load_acquire(&arrived) < gridDim.x) {} }\n__syncthreads();\ny[blockIdx.x] = arrived;"
        y = self.run_one(body, False, grid=24, before='#include "kagent.cuh"\n__device__ unsigned arrived;')
        self.assertEqual(y[:24].tolist(), [24.0] * 24)

    def test_assertions_and_traps(self):
        self.assertEqual(self.fails("assert(threadIdx.x < 5); y[0] = 1;", False)["kind"], "assert")
        self.assertEqual(self.fails("if (threadIdx.x == 9) __trap(); y[0] = 1;", False)["kind"], "trap")

    def test_a_big_stack_is_no_silent_damage(self):
        body = "volatile float big[65536];\nfor (int i = 65535; i >= 0; --i) big[i] = x[i % n];\n__syncthreads();\ny[threadIdx.x] = big[threadIdx.x];"
        self.assertIn(self.fails(body, False, block=4)["kind"], ("not_emulable", "illegal_access", "crashed"))

    def not_emulable(self, source: str) -> str:
        reply = self.compiler.ask(cmd="emulate", source=source, names=["k"])
        self.assertFalse(reply["ok"])
        self.assertEqual(reply["error"]["kind"], "not_emulable", reply)
        return reply["error"]["message"]

    def test_what_a_cpu_cannot_do_is_named(self):
        self.assertIn("clusters", self.not_emulable(kernel("kg::cluster_sync();", '#include "kagent.cuh"')))
        self.assertIn("wgmma.fence", self.not_emulable(kernel('asm volatile("wgmma.fence.sync.aligned;");')))
        self.assertIn("not emulable: <cuda/atomic>", self.not_emulable(kernel("", "#include <cuda/atomic>")))
        self.assertIn("cuda/barrier", self.not_emulable(kernel("", "#include <cuda/barrier>")))

    def test_branches_are_those_that_the_gpus_compiler_takes(self):
        for asked in ("defined(__x86_64__) || defined(__linux__)", "defined(KAGENT_NOT_EMULABLE)", "__has_include(<cstdio>) && defined(FILENAME_MAX)",
                      "PASTED(__x86_6, 4__)", "defined /*\n*/ __linux__"):
            before = f"#define PASTED(a, b) a##b\n#if {asked}\n#define VALUE 1.f\n#else\n#define VALUE 2.f\n#endif\n"
            y = self.run_one("y[threadIdx.x] = VALUE;", False, before=before)
            self.assertEqual(float(y[0]), 2.0, asked)
        y = self.run_one("y[threadIdx.x] = VALUE;", False, before="#if __CUDA_ARCH__ >= 900\n#define VALUE 3.f\n#endif\n")
        self.assertEqual(float(y[0]), 3.0)

    def test_own_words_of_the_cpus_compiler_are_found_however_they_are_written(self):
        for before in ("#define P(a, b) a##b\nP(__attri, bute__)((constructor)) void f() {}", "#define A __at\\\ntribute__\nA((constructor)) void f() {}",
                       "#define Q(x) _Pragma(#x)\nQ(GCC optimize 3)", "#define P(a, b) a##b\n__device__ void f() { P(a, sm)(\"\"); }",
                       "#define P(a, b) a##b\n__device__ void f() { P(__buil, tin_trap)(); }"):
            kernels = self.compiler.ask(cmd="emulate", source=kernel("", before), names=["k"])
            self.assertFalse(kernels["ok"], before)
            self.assertEqual(kernels["error"]["kind"], "not_emulable", before)
            self.assertRegex(kernels["error"]["message"], "own words|asm by a macro", before)

    def test_a_hostile_kernel_reaches_no_file_and_no_program(self):
        # NVRTC refuses host functions; the emulated program is asked directly, as a translation gone wrong would.
        before = "extern \"C\" int open(const char*, int, ...);\nextern \"C\" int system(const char*);\nextern \"C\" int socket(int, int, int);"
        body = ('y[0] = open("/etc/passwd", 0) < 0 ? 1 : 2;\ny[1] = open("/tmp/kagent-escape", 0101, 0600) < 0 ? 1 : 2;\n'
                'y[2] = system("true") != 0 ? 1 : 2;\ny[3] = socket(2, 1, 0) < 0 ? 1 : 2;')
        kernels = Kernels(self.compiler, kernel("y[0] = 0;"), ["k"])
        kernels.emulated = self.compiler.ask(cmd="emulate", source=kernel(body, before), names=["k"])
        self.assertTrue(kernels.emulated["ok"], kernels.emulated)
        y = kernels.run(Case("k", (1,), (1,), 0, False, True), "cpu")
        self.assertEqual(y[:4].tolist(), [1.0, 1.0, 1.0, 1.0])
        self.assertFalse(os.path.exists("/tmp/kagent-escape"))

    def test_a_hostile_source_reads_no_file(self):
        secret = os.path.join(self.folder.name, "secret.h")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("int secret;\n")
        message = self.not_emulable(kernel("", f'#include "{secret}"'))
        self.assertNotIn("int secret", message)
        self.assertIn("attribute", self.not_emulable('__attribute__((constructor)) void before_main() {}\n' + kernel("")))


if __name__ == "__main__":
    unittest.main()
