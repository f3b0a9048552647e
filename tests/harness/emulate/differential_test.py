"""Small kernels, one a feature, by both back ends. Without a GPU: the emulation against what an H200 gave (expected.json, made by
`KAGENT_BUILD=... python3 tests/harness/emulate/differential_test.py --record`)."""
import base64
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch  # noqa: E402
from kernel_runs import HERE, Compiler, Kernels, cases  # noqa: E402

EXPECTED = os.path.join(HERE, "expected.json")
with open(os.path.join(HERE, "kernels.cu"), encoding="utf-8") as file:
    SOURCE = file.read()
CASES = cases(SOURCE)


def packed(values: torch.Tensor) -> str:
    return base64.b64encode(values.numpy().tobytes()).decode()


def unpacked(text: str) -> torch.Tensor:
    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.float32)


class Differential(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.compiler = Compiler(cls.folder.name)
        cls.kernels = Kernels(cls.compiler, SOURCE, [case.kernel for case in CASES])
        cls.expected = {}
        if not torch.cuda.is_available():
            with open(EXPECTED, encoding="utf-8") as recorded:
                cls.expected = {name: unpacked(text) for name, text in json.load(recorded)["outputs"].items()}

    @classmethod
    def tearDownClass(cls):
        cls.compiler.close()
        cls.folder.cleanup()

    def test_the_file_compiles_for_the_cpu(self):
        self.assertTrue(self.kernels.emulated["ok"], self.kernels.emulated)
        self.assertGreaterEqual(len(CASES), 40)

    def test_both_back_ends_agree(self):
        differing = []
        for case in CASES:
            with self.subTest(case.kernel):
                want = self.expected[case.kernel] if self.expected else self.kernels.run(case, "cuda:0")
                got = self.kernels.run(case, "cpu")
                self.assertFalse(torch.equal(got, torch.zeros_like(got)), "the kernel wrote nothing")
                if case.exact:
                    self.assertTrue(torch.equal(got.view(torch.int32), want.view(torch.int32)), f"worst {(got - want).abs().max()}")
                else:
                    torch.testing.assert_close(got, want, rtol=2e-5, atol=2e-5)
        self.assertEqual(differing, [])

    def test_the_checking_build_finds_nothing_wrong_with_them(self):
        checked = Kernels(self.compiler, SOURCE, [case.kernel for case in CASES], checking=True)
        self.assertTrue(checked.emulated["ok"], checked.emulated)
        for case in CASES:
            with self.subTest(case.kernel):
                checked.run(case, "cpu")


def record() -> None:
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(folder)
        kernels = Kernels(compiler, SOURCE, [case.kernel for case in CASES])
        outputs = {case.kernel: packed(kernels.run(case, "cuda:0")) for case in CASES}
        compiler.close()
    path = sys.argv[sys.argv.index("--record") + 1]
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "outputs": outputs}, out, indent=0)


if __name__ == "__main__":
    record() if "--record" in sys.argv else unittest.main()
