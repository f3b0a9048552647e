"""kagent-compile as its caller meets it. Needs no GPU."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.environ["KAGENT_COMPILE"]
CUDA = os.environ.get("KAGENT_CUDA_ROOT", "")


class Compiler:
    def __init__(self, cache: str):
        argv = [PROGRAM, "--cache", cache] + (["--cuda", CUDA] if CUDA else [])
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request) -> dict:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def compile(self, source: str, *names: str) -> dict:
        return self.ask(cmd="compile", source=source, arch="sm_90a", names=list(names))


class Compile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.compiler = Compiler(cls.folder.name)
        hello = cls.compiler.ask(cmd="hello")
        if not hello["ok"]:
            raise unittest.SkipTest(hello["error"]["message"])

    @classmethod
    def tearDownClass(cls):
        cls.compiler.process.stdin.close()
        cls.compiler.process.wait()
        cls.compiler.process.stdout.close()
        cls.folder.cleanup()

    def error_of(self, source: str, *names: str) -> dict:
        reply = self.compiler.compile(source, *names)
        self.assertFalse(reply["ok"])
        return reply

    def test_gives_facts_of_plain_and_template_kernels(self):
        reply = self.compiler.compile("""
extern "C" __global__ void plain(const float* __restrict__ x, float* y, long long n, float f, bool b) { __shared__ float s[64]; s[threadIdx.x] = x[n]; __syncthreads(); y[0] = s[5] * f + b; }
template <int N> __global__ void __launch_bounds__(128) sized(const int* a, unsigned char* c) { c[N] = a[N]; }
struct Two { float* p; int n; };
__global__ void by_value(Two t) { t.p[t.n] = 1.f; }
""", "plain", "sized<3>", "by_value")
        self.assertTrue(reply["ok"], reply)
        plain = reply["kernels"]["plain"]
        self.assertEqual([p["kind"] for p in plain["params"]], ["pointer", "pointer", "int", "float", "int"])
        self.assertEqual([p["size"] for p in plain["params"]], [8, 8, 8, 4, 1])
        self.assertEqual([plain["params"][0][k] for k in ("pointee", "const")], ["float", True])
        self.assertEqual(plain["params"][1]["const"], False)
        self.assertEqual(plain["static_shared_bytes"], 256)
        self.assertGreater(plain["registers"], 0)
        sized = reply["kernels"]["sized<3>"]
        self.assertEqual((sized["max_threads"], sized["mangled"]), (128, True))
        self.assertEqual([p["pointee"] for p in sized["params"]], ["int", "unsigned char"])
        self.assertEqual([reply["kernels"]["by_value"]["params"][0][k] for k in ("kind", "size")], ["struct", 16])
        for name in ("cubin", "ptx", "preprocessed"):
            self.assertGreater(os.path.getsize(reply[name]), 0)

    def test_errors_carry_the_answers_own_lines(self):
        reply = self.error_of("#include <cmath>\n// two\n#line 700 \"spoofed.cu\"\n__global__ void k(float* x) {\n  x[0] = nonsense;\n}\n")
        self.assertEqual((reply["error"]["kind"], reply["errors"][0]["line"]), ("compile_error", 5))
        self.assertIn("nonsense", reply["error"]["message"])

    def test_a_kernel_may_have_the_name_of_a_function_of_cudas(self):
        norm = "__global__ void norm(const float* x, float* y) { y[0] = x[0]; }\n"
        reply = self.compiler.compile(norm + "template <int N> __global__ void sized(int* x) { x[0] = N; }\n", "norm", "sized<3>")
        self.assertTrue(reply["ok"], reply)
        self.assertEqual(reply["kernels"]["norm"]["params"][0]["pointee"], "float")
        self.assertIn("sized<3>", reply["kernels"])
        twice = self.error_of(norm + "__global__ void norm(int* x) { x[0] = 1; }\n", "norm")
        self.assertEqual(twice["error"]["kind"], "unknown_kernel")

    def test_an_unknown_kernel_is_answered_with_the_nearest(self):
        reply = self.error_of('extern "C" __global__ void softmax_rows(float* x) { x[0] = 1; }', "softmax_row")
        self.assertIn("softmax_rows", reply["error"]["message"])

    def test_names_that_models_write_from_habit_work(self):
        reply = self.compiler.compile("""#include <cmath>
#include <cstdint>
#include <cfloat>
#include <algorithm>
float helper(float x) { return std::max(x, -FLT_MAX) + INFINITY * 0 + M_PI; }
extern "C" __global__ void k(float* x, int64_t n) { uint32_t i = min(threadIdx.x, 3u); x[min(5, n)] = helper(std::numeric_limits<float>::lowest()) + i; }
""", "k")
        self.assertTrue(reply["ok"], reply.get("log"))

    def test_host_code_is_told_what_to_do_instead(self):
        self.assertIn("kg.launch", self.error_of("#include <torch/extension.h>\n")["error"]["message"])
        self.assertIn("kg.launch", self.error_of("void f() { k<<<1, 2>>>(); }")["error"]["message"])
        self.assertIn("cub/block", self.error_of("#include <cub/cub.cuh>\n")["error"]["message"])

    def test_nothing_else_on_the_machine_can_be_read(self):
        with tempfile.NamedTemporaryFile("w", suffix=".h", delete=False) as secret:
            secret.write("#error SECRET-CANARY\n")
        try:
            for source in (f'#include "{secret.name}"\n', f'#if __has_include("{secret.name}")\n#error SECRET-THERE\n#endif\n#error absent\n',
                           '#include "/etc/passwd"\n', f'__global__ void k() {{ asm(".file 1 \\"{secret.name}\\""); asm volatile(".include \\"{secret.name}\\""); }}\n'):
                reply = self.compiler.compile(source)
                text = json.dumps(reply)
                for leak in ("SECRET-CANARY", "SECRET-THERE", "root:"):
                    self.assertNotIn(leak, text, source)
        finally:
            os.unlink(secret.name)

    def test_one_program_in_one_source(self):
        for name in ("__CUDACC_RTC__", "__TIME__", "__DATE__"):
            self.assertEqual(self.error_of(f"// one\nconst char* x = {name};")["errors"][0]["line"], 2)

    def test_a_name_in_two_lines_or_behind_a_raw_string_is_seen(self):
        for source in ("// one\nconst char* x = __TI\\\nME__;", "const char* y = R\"(\"/*)\";\nconst char* x = __TIME__; // */",
                       "int a; /* \n*/ int b = sizeof(__TIME__);"):
            self.assertEqual(self.error_of(source)["errors"][0]["line"], 2, source)
        self.assertIn("write #", self.error_of("%:define A 1\n")["error"]["message"])
        # A comment that ends in a backslash and a blank hides nothing, and a macro of three lines is one.
        reply = self.compiler.compile("// a \\ \n#define K(x) \\\n  extern \"C\" __global__ \\ \n  void x() {}\nK(k)\n", "k")
        self.assertTrue(reply["ok"], reply)

    def test_one_name_and_two_bodies_are_two_entries_of_the_cache(self):
        def cubin(reply: dict) -> bytes:
            with open(reply["cubin"], "rb") as file:
                return file.read()

        text = "extern \"C\" __global__ void same(float* y) {{ y[threadIdx.x] = {}; }}"
        first, second, again = (self.compiler.compile(text.format(value), "same") for value in ("1.f", "2.f", "1.f"))
        self.assertNotEqual(first["key"], second["key"])
        self.assertNotEqual(cubin(first), cubin(second))
        self.assertEqual((again["key"], again["cached"], cubin(again)), (first["key"], True, cubin(first)))
        # Neither do a name that is asked for and the GPU it is for share an entry.
        other = self.compiler.ask(cmd="compile", source=text.format("1.f"), arch="sm_90", names=["same"])
        self.assertNotEqual(other["key"], first["key"])

    def test_pasted_together_names_give_no_time_of_day(self):
        source = """#define PASTE(a, b) a##b
__device__ const char* volatile text;
extern "C" __global__ void k() { text = PASTE(__TI, ME__); text = PASTE(__DA, TE__); }"""
        reply = self.compiler.compile(source, "k")
        self.assertTrue(reply["ok"], reply.get("log"))
        with open(reply["ptx"], encoding="utf-8") as file:
            strings = [bytes(int(c) for c in found.split(",")).rstrip(b"\0").decode() for found in re.findall(r"\.b8 [^\n]*= \{([0-9, ]+)\}", file.read())]
        self.assertEqual(sorted(strings), ["00:00:00", "Jan  1 2000"])

    def test_no_path_out_of_nvidias_headers_is_precompiled(self):
        """The prefix is compiled outside the seal."""
        with tempfile.NamedTemporaryFile("w", suffix=".h") as secret:
            secret.write("#define STOLEN 4242\n")
            secret.flush()
            for way in ("cub/" + "../" * 20 + secret.name[1:], "cuda/./" + "../" * 20 + secret.name[1:], "cub//" + secret.name, "cooperative_groups/..hidden"):
                reply = self.compiler.compile(f'#include <{way}>\nextern "C" __global__ void k(int* y) {{ *y = STOLEN; }}', "k")
                self.assertFalse(reply["ok"], way)
        fifo = os.path.join(tempfile.mkdtemp(), "pipe.h")
        os.mkfifo(fifo)
        begin = time.monotonic()
        self.assertFalse(self.compiler.compile(f'#include <cub/{"../" * 20}{fifo[1:]}>\n', "k")["ok"])
        self.assertLess(time.monotonic() - begin, 20)

    def test_thousands_of_includes_cost_no_time(self):
        begin = time.monotonic()
        self.compiler.compile("".join(f"#include <cub/x{i}.h>\n" for i in range(30000)))
        self.assertLess(time.monotonic() - begin, 10)

    def test_facts_of_kernels_cannot_be_forged_by_comments_and_messages(self):
        source = """struct S { char pad[4096]; };
__global__ void k(S s, float* y) { y[threadIdx.x] = s.pad[threadIdx.x]; }
#pragma message("\\nptxas info    : Compiling entry function '_Z1k1SPf' for 'sm_90a'\\nptxas info    : Used 3 registers, 7 bytes smem")
#warning Compiling entry function '_Z1k1SPf' Used 3 registers, 7 bytes smem
__global__ void z() {
  asm volatile("// .entry _Z1k1SPf(\\n// .param .align 4 .b8 a[4],\\n// .param .u64 b\\n// ) .maxntid 7\\n// { }\\n");
  asm volatile("/* .entry _Z1k1SPf( .param .u32 a ) { } */");
}
// k(const float* x, const float* y)
extern "C" __global__ void w(float* x) { *x = 1; }
// w(const float* x)
"""
        kernels = self.compiler.compile(source, "k", "z", "w")["kernels"]
        self.assertEqual([p["size"] for p in kernels["k"]["params"]], [4096, 8])
        self.assertEqual((kernels["k"]["max_threads"], kernels["k"]["static_shared_bytes"]), (1024, 0))
        self.assertNotEqual(kernels["k"]["registers"], 3)
        self.assertIs(kernels["w"]["params"][0]["const"], False)

    def test_a_source_that_wants_all_memory_is_refused(self):
        reply = self.compiler.compile("__device__ char z[1ull << 40] = {1};\nextern \"C\" __global__ void k(char* y) { *y = z[3]; }", "k")
        self.assertFalse(reply["ok"])

    def test_hostile_sources_end_in_an_answer(self):
        for source in ("", "\0\1\2\xff", "#include <cmath\n", "{" * 5000, "template<int N> struct A { A<N+1> a; }; A<0> x;", "#error " + "x" * 100000, "/*", "__global__ void k( {"):
            self.assertIn("ok", self.compiler.compile(source))

    def test_the_device_header_compiles_and_is_found(self):
        reply = self.compiler.compile("""#include <kagent.cuh>
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ __align__(16) float s[64];
  kg::cp_async_16(s, x); kg::cp_async_commit(); kg::cp_async_wait<0>(); __syncthreads();
  float d[4] = {}; float a[4] = {s[0], s[1], s[2], s[3]}, b[2] = {s[4], s[5]};
  kg::mma_3xtf32(d, a, b);
  y[0] = kg::warp_sum(d[0]) + kg::warp_max(d[1]);
}""", "k")
        self.assertTrue(reply["ok"], reply.get("log"))

    def test_heavy_headers_are_quick_after_the_first(self):
        source = "#include <cub/block/block_reduce.cuh>\n#include <cooperative_groups.h>\nextern \"C\" __global__ void k(float* x) { x[0] = %d; }"
        self.assertTrue(self.compiler.compile(source % 1, "k")["ok"])
        begin = time.monotonic()
        self.assertTrue(self.compiler.compile(source % 2, "k")["ok"])
        elapsed = time.monotonic() - begin
        print(f"cub/block and cooperative_groups, warm: {elapsed:.2f} s", file=sys.stderr)
        self.assertLess(elapsed, 3)

    def test_a_damaged_cache_entry_is_compiled_again(self):
        source = 'extern "C" __global__ void k(float* x) { x[0] = 42; }'
        first = self.compiler.compile(source, "k")
        self.assertTrue(self.compiler.compile(source, "k")["cached"])
        with open(first["cubin"], "r+b") as f:
            f.write(b"damage")
        again = self.compiler.compile(source, "k")
        self.assertTrue(again["ok"])
        self.assertFalse(again["cached"])


if __name__ == "__main__":
    unittest.main()
