"""The file that carries outputs keeps every bit, and is not believed."""

import json
import os
import random
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "harness"))

import torch  # noqa: E402

from check.exchange import Outcome, read_outcome, write_outcome  # noqa: E402
from model.failure import Failure  # noqa: E402

TREE = {"tuple": [{"t": 0}, {"t": 1}, {"t": 2}, {"t": 3}]}


def bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)


class Exchange(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "outputs")

    def write(self):
        outputs = [torch.tensor([1.5, float("nan"), -0.0]), torch.tensor([[1, 2]]), torch.zeros(0, 3),
                   torch.arange(6.0).view(2, 3).t()]
        state = {"bn.n": torch.tensor(3), "mask": torch.tensor([True, False]),
                 "half": torch.ones(2, dtype=torch.bfloat16)}
        write_outcome(self.path, Outcome(TREE, outputs, state))
        return outputs, state

    def test_keeps_every_bit(self):
        outputs, state = self.write()
        back = read_outcome(self.path)
        self.assertEqual(back.structure, TREE)
        self.assertEqual((len(back.outputs), list(back.state)), (4, list(state)))
        for got, want in zip(back.outputs + list(back.state.values()), outputs + list(state.values())):
            self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape))
            self.assertTrue(torch.equal(bits(got), bits(want)))

    def test_equal_outcomes_are_equal_files_whatever_stood_there_before(self):
        self.write()
        with open(self.path, "rb") as file:
            fresh = file.read()
        with open(self.path, "wb") as file:
            file.write(b"\xff" * (len(fresh) + 5000))
        self.write()
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(), fresh)

    def test_many_tensors_find_room_for_their_offsets(self):
        outputs = [torch.full((1,), float(i)) for i in range(2000)]
        write_outcome(self.path, Outcome({"list": [{"t": i} for i in range(2000)]}, outputs, {}))
        self.assertEqual([float(t) for t in read_outcome(self.path).outputs], [float(i) for i in range(2000)])

    def test_another_file_is_refused(self):
        for content in (b"", b"short", b"NOTKAGENT" * 10, b"KAGENT01" + struct.pack("<Q", 2**63) + b"{}",
                        b"KAGENT01" + struct.pack("<Q", 2) + b"{}", b"KAGENT01" + struct.pack("<Q", 4) + b"[1,2"):
            with open(self.path, "wb") as file:
                file.write(content)
            with self.assertRaises(Failure, msg=content):
                read_outcome(self.path)
        with self.assertRaises(Failure):
            read_outcome(self.path + ".none")

    def test_tensors_outside_the_file_are_refused(self):
        good = {"name": "a", "shape": [1], "dtype": "float32", "offset": 192, "bytes": 4}
        for change in ({"offset": 1 << 40}, {"offset": -8}, {"bytes": 8}, {"shape": [1 << 40], "bytes": 4 << 40},
                       {"shape": [-1]}, {"dtype": "object"}, {"shape": "x"}, {"offset": None}):
            head = json.dumps({"structure": {"t": 0}, "outputs": 1, "tensors": [{**good, **change}]}).encode()
            with open(self.path, "wb") as file:
                file.write(b"KAGENT01" + struct.pack("<Q", len(head)) + head + bytes(256))
            with self.assertRaises(Failure, msg=change):
                read_outcome(self.path)

    def test_damaged_files_never_crash(self):
        self.write()
        with open(self.path, "rb") as file:
            whole = file.read()
        dice = random.Random(1)
        for _ in range(500):
            data = bytearray(whole[:dice.randrange(len(whole) + 1)])
            for _ in range(dice.randrange(6)):
                if data:
                    data[dice.randrange(len(data))] = dice.randrange(256)
            with open(self.path, "wb") as file:
                file.write(data)
            try:
                read_outcome(self.path)
            except Failure as failure:
                self.assertEqual(failure.error["kind"], "bad_file")


if __name__ == "__main__":
    unittest.main()
