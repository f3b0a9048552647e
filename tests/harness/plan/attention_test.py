"""The layout that a plan claims for an attention's result is the one the GPU gives (torch 2.11, fp32)."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "harness"))

import torch  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

from plan import attention  # noqa: E402

OPERATOR = torch.ops.aten.scaled_dot_product_attention.default
# query's, key's and value's shapes, keyword arguments, and whether the result is (batch, length, heads, width) underneath
CASES = [
    ([(2, 8, 16, 64)] * 3, {}, True),
    ([(2, 8, 16, 64)] * 3, {"is_causal": True}, True),
    ([(2, 8, 16, 64), (2, 8, 24, 64), (2, 8, 24, 32)], {}, True),
    ([(2, 8, 2, 64)] * 3, {}, True),
    ([(2, 8, 16, 62)] * 3, {}, False),
    ([(8, 16, 64)] * 3, {}, False),
    ([(2, 8, 16, 64), (2, 2, 16, 64), (2, 2, 16, 64)], {"enable_gqa": True}, False),
]


def strides(shapes, kwargs, device):
    query, key, value = (torch.empty(shape, device=device) for shape in shapes)
    return attention.results(OPERATOR, [query, key, value], kwargs)


class Attention(unittest.TestCase):
    def test_layout_follows_the_kernel_that_torch_chooses(self):
        for shapes, kwargs, transposed in CASES:
            with FakeTensorMode(), torch.no_grad():
                out = strides(shapes, kwargs, "cuda")
            expected = (*shapes[0][:-1], shapes[2][-1])
            self.assertEqual(tuple(out.shape), expected)
            layout = out.transpose(1, 2) if transposed else out
            self.assertTrue(layout.is_contiguous(), (shapes, kwargs, out.stride()))

    def test_heads_that_lie_transposed_change_nothing(self):
        with FakeTensorMode(), torch.no_grad():
            q = torch.empty(2, 16, 8, 64, device="cuda").transpose(1, 2)
            out = attention.results(OPERATOR, [q, q, q], {})
        self.assertTrue(out.transpose(1, 2).is_contiguous())

    def test_what_the_operator_refuses_is_refused(self):
        with FakeTensorMode(), torch.no_grad(), self.assertRaises(RuntimeError):
            strides([(2, 8, 16, 64), (2, 8, 16, 32), (2, 8, 16, 64)], {}, "cuda")

    @unittest.skipUnless(torch.cuda.is_available(), "needs a GPU")
    def test_the_gpu_gives_the_same(self):
        for shapes, kwargs, _ in CASES:
            with FakeTensorMode(), torch.no_grad():
                claimed = strides(shapes, kwargs, "cuda").stride()
            with torch.no_grad():
                real = OPERATOR(*(torch.rand(shape, device="cuda") for shape in shapes), **kwargs).stride()
            self.assertEqual(claimed, real, (shapes, kwargs))


if __name__ == "__main__":
    unittest.main()
