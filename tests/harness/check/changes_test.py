"""Writes to what should only be read are seen, whatever makes up for them."""
import os
import sys
import unittest
from types import SimpleNamespace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "harness"))

import torch  # noqa: E402

from check import changes  # noqa: E402
from check.changes import ReadOnly  # noqa: E402
from measure.commands import _hold, _watched  # noqa: E402
from model.failure import Failure  # noqa: E402


class Changes(unittest.TestCase):
    def changed(self, tensor: torch.Tensor, change) -> list:
        watched = ReadOnly({"other": torch.ones(3), "x": tensor})
        change(tensor)
        return list(watched.changed())

    def test_nothing_changed(self):
        for dtype in (torch.float32, torch.float64, torch.float16, torch.int64, torch.uint8, torch.bool):
            self.assertEqual(self.changed(torch.ones(4, 5).to(dtype), lambda x: x.copy_(x.clone())), [])
        self.assertEqual(ReadOnly({}).changed(), {})

    def test_a_single_bit(self):
        self.assertEqual(self.changed(torch.zeros(1000), lambda x: x[7].copy_(torch.tensor(-0.0))), ["x"])

    def test_changes_that_keep_the_sum_of_the_bits(self):
        self.assertEqual(self.changed(torch.arange(10.0), lambda x: x.copy_(x.flip(0))), ["x"])
        self.assertEqual(self.changed(torch.arange(10), lambda x: x.add_(torch.tensor([1, -2, 1] + [0] * 7))), ["x"])
        self.assertEqual(self.changed(torch.arange(10), lambda x: x.add_(torch.tensor([5, -5] + [0] * 8))), ["x"])

    def test_beyond_one_chunk(self):
        before = changes._CHUNK
        self.addCleanup(setattr, changes, "_CHUNK", before)
        changes._CHUNK = 8
        self.assertEqual(self.changed(torch.arange(20), lambda x: x.copy_(x.roll(8))), ["x"])
        self.assertEqual(self.changed(torch.arange(20), lambda x: x[19].add_(1)), ["x"])

    def test_timed_runs_may_not_write_to_inputs_or_parameters(self):
        model, sets, prepared = torch.nn.Linear(3, 2), [[torch.rand(4, 3), 7], [torch.rand(4, 3), 7]], torch.rand(5)
        plan = SimpleNamespace(read_only=lambda: {"prepared tensor 0": prepared})
        watched = _watched(SimpleNamespace(model=model, need_plan=lambda: plan), sets)
        _hold(watched)
        _hold(None)
        sets[1][0].copy_(sets[1][0].flip(0))
        with self.assertRaises(Failure) as caught:
            _hold(watched)
        self.assertEqual(caught.exception.error["kind"], "writes_input")
        self.assertIn("input 0 of set 1", caught.exception.error["message"])
        with torch.no_grad():
            model.bias.add_(1)
        with self.assertRaisesRegex(Failure, "parameter bias"):
            _hold(watched)

    def test_timed_runs_may_not_write_to_what_prepare_made(self):
        prepared = torch.rand(5)
        plan = SimpleNamespace(read_only=lambda: {"prepared tensor 0": prepared})
        watched = _watched(SimpleNamespace(model=torch.nn.Linear(3, 2), need_plan=lambda: plan), [[torch.rand(4, 3)]])
        _hold(watched)
        prepared[4] += 1
        with self.assertRaisesRegex(Failure, "prepared tensor 0"):
            _hold(watched)


if __name__ == "__main__":
    unittest.main()
