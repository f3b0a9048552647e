"""Operations and bytes of small models against counts by hand."""
import os
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "harness"))

from plan import no_compiler  # noqa: E402

no_compiler.keep_out()

import torch  # noqa: E402

from study.floor import floor_ms  # noqa: E402
from check.noise import UlpNoise  # noqa: E402
from study.work import work  # noqa: E402
from tracer.task import Task  # noqa: E402


def counted(init: str, forward: str, inputs: str) -> dict:
    source = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    source += textwrap.indent(init, "        ") + "\n    def forward(self, x):\n" + textwrap.indent(forward, "        ")
    source += f"\ndef get_inputs(): return [{inputs}]\ndef get_init_inputs(): return []\n"
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(source)
        file.flush()
        return work(Task(file.name).trace(None, 1 << 20))


class Work(unittest.TestCase):
    def test_a_linear_layer(self):
        got = counted("self.fc = nn.Linear(32, 10)", "return self.fc(x)", "torch.rand(4, 32)")
        self.assertEqual(got["flops"], {"convolution": 0, "matmul": 2 * 4 * 32 * 10, "recurrent": 0})
        self.assertEqual(got["bytes"], 4 * (4 * 32 + 32 * 10 + 10 + 4 * 10))

    def test_convolutions_grouped_strided_and_transposed(self):
        got = counted("self.a = nn.Conv2d(4, 8, 3, padding=1, stride=2, groups=2, bias=False)\nself.b = nn.ConvTranspose2d(8, 6, 2, stride=2, bias=False)", "return self.b(self.a(x))", "torch.rand(2, 4, 8, 8)")
        self.assertEqual(got["flops"]["convolution"], 2 * (2 * 8 * 4 * 4) * (2 * 9) + 2 * (2 * 8 * 4 * 4) * (6 * 4))

    def test_buffers_written_count_twice_and_unused_parameters_not_at_all(self):
        got = counted("self.bn = nn.BatchNorm1d(5)\nself.unused = nn.Linear(100, 100)", "return self.bn(x)", "torch.rand(3, 5)")
        statistics = 2 * 4 * 5 + 8  # running_mean, running_var, num_batches_tracked
        self.assertEqual(got["bytes"], 2 * 4 * 15 + 2 * 4 * 5 + 2 * statistics)

    def test_views_of_inputs_are_no_writes(self):
        got = counted("pass", "return x.view(8, 2).t() + 1", "torch.rand(4, 4)")
        self.assertEqual(got["bytes"], 2 * 4 * 16)

    def test_attention_einsum_and_recurrence(self):
        got = counted("pass", "return F.scaled_dot_product_attention(x, x, x)", "torch.rand(2, 3, 16, 8)")
        self.assertEqual(got["flops"]["matmul"], 2 * 2 * 3 * 16 * 16 * (8 + 8))
        got = counted("self.w = nn.Parameter(torch.rand(4, 5))\nself.v = nn.Parameter(torch.rand(5, 6))", "return torch.einsum('ab,bc,cd->ad', x, self.w, self.v)", "torch.rand(3, 4)")
        self.assertEqual(got["flops"]["matmul"], 2 * 3 * 4 * 5 + 2 * 3 * 5 * 6)
        got = counted("self.rnn = nn.GRU(7, 5, 2)", "return self.rnn(x)[0]", "torch.rand(9, 2, 7)")
        self.assertEqual(got["flops"]["recurrent"], 2 * 9 * 2 * (15 * 7 + 15 * 5 + 15 * 5 + 15 * 5))

    def test_the_floor_is_the_slower_of_memory_and_arithmetic(self):
        peak = {"bytes_per_s": 1e12, "tf32_flops_per_s": 1e14}
        self.assertAlmostEqual(floor_ms({"flops": {"matmul": 2e11}, "bytes": 1e9}, peak)["floor_ms"], 2.0)
        self.assertAlmostEqual(floor_ms({"flops": {"matmul": 1e9}, "bytes": 4e9}, peak)["floor_ms"], 4.0)
        unknown = floor_ms({"flops": {"matmul": 1e20}, "bytes": 4e9}, {**peak, "tf32_flops_per_s": None})
        self.assertEqual((unknown["compute_ms"], unknown["floor_ms"]), (None, 4.0))


class Noise(unittest.TestCase):
    def test_moves_sums_by_at_most_one_ulp_and_leaves_the_rest(self):
        a = torch.rand(64, 64)
        with torch.no_grad(), UlpNoise(torch.device("cpu"), 1):
            product, added = a @ a, a + a
        exact = a @ a
        self.assertTrue(torch.equal(added, a + a))
        self.assertFalse(torch.equal(product, exact))
        self.assertLess(float(((product - exact) / exact).abs().max()), 2.0**-22)


if __name__ == "__main__":
    unittest.main()
