"""Tensors without data work without torch's compiler, and the compiler comes when it is asked for."""
import os
import subprocess
import sys
import unittest

HARNESS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "harness")
START = f"import sys; sys.path.insert(0, {HARNESS!r})\nfrom plan import no_compiler\nno_compiler.keep_out()\nimport torch\n"
FAKE = """
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode(), torch.no_grad():
    layer = torch.nn.BatchNorm1d(3, device="cuda")
    y = layer(torch.empty(4, 3, device="cuda")) + torch.tensor([1.0, 2.0, 3.0], device="cuda")
assert y.shape == (4, 3) and y.device.type == "cuda"
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", START + code], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


class NoCompiler(unittest.TestCase):
    def test_tensors_without_data_leave_it_out(self):
        self.assertEqual(run(FAKE + "print('torch._inductor' in sys.modules, 'torch._dynamo.utils' in sys.modules)"), "False False\n")

    def test_it_comes_when_asked_for(self):
        code = FAKE + """
from torch._dynamo.source import LocalSource, ConstantSource
from torch._dynamo import explain
import torch._dynamo
print(LocalSource.__module__, callable(torch._dynamo.explain), ConstantSource.__module__)
compiled = torch.compile(lambda x: x + 1, backend='eager')
print(compiled(torch.ones(2)).tolist())
"""
        self.assertEqual(run(code), "torch._dynamo.source True torch._dynamo.source\n[2.0, 2.0]\n")

    def test_where_it_is_loaded_already_nothing_changes(self):
        self.assertEqual(run("").strip(), "")
        code = f"import sys; sys.path.insert(0, {HARNESS!r})\nimport torch, torch._dynamo\nbefore = torch._dynamo\nfrom plan import no_compiler\nno_compiler.keep_out()\nprint(torch._dynamo is before)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "True\n")


if __name__ == "__main__":
    unittest.main()
