"""Loading, building and feeding a model; its state; the words of errors."""

import json
import os
import random
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "harness"))

import numpy  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402

from model.build import build_model  # noqa: E402
from model.failure import Failure, cuda_kind, failure_of  # noqa: E402
from model.flags import precision  # noqa: E402
from model.inputs import KeptDraws, describe, input_bytes, make_inputs  # noqa: E402
from model.load import load_task  # noqa: E402
from model.state import ModelState, state_tensors  # noqa: E402

CPU = torch.device("cpu")
LINEAR = """
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self, start):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.start = start
    def forward(self, x, index, flag):
        return self.fc(x)[index]
def get_inputs(): return [torch.rand(2, 3, dtype=torch.float64), torch.tensor([1, 0]), True]
def get_init_inputs(): return [torch.rand(2)]
"""


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "task.py")

    def load(self, text: str):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        return load_task(self.path)

    def message(self, text: str, build: bool = False) -> str:
        with self.assertRaises(Failure) as caught:
            task = self.load(text)
            if build:
                build_model(task, 42, CPU)
                make_inputs(task, 42, 1.0, CPU)
        self.assertEqual((caught.exception.error["stage"], caught.exception.error["kind"]), ("task", "task_error"))
        self.assertNotIn("\n", caught.exception.error["message"])
        return caught.exception.error["message"]

    def test_errors_say_what_is_wrong_and_where(self):
        model = "from torch import nn\nclass Model(nn.Module):\n    pass\n"
        self.assertIn("no Model", self.message("x = 1"))
        self.assertIn("no get_inputs", self.message(model))
        self.assertIn("no get_init_inputs", self.message(model + "def get_inputs(): return []"))
        self.assertIn("task.py:2: running the file: ZeroDivisionError", self.message("x = 1\ny = x / 0"))
        self.assertIn("task.py:1: running the file: SyntaxError", self.message("def f(:"))
        self.assertIn("not a class derived from torch.nn.Module",
                      self.message("class Model: pass\ndef get_inputs(): return []\ndef get_init_inputs(): return []"))
        whole = model + "def get_inputs(): return [1 / 0]\ndef get_init_inputs(): return [7]\n"
        self.assertIn("building the model: TypeError", self.message(whole, build=True))
        self.assertIn("task.py:4: get_inputs: ZeroDivisionError", self.message(whole.replace("[7]", "[]"), build=True))
        bare = whole.replace("[7]", "[]").replace("[1 / 0]", "torch.zeros(2)").replace("from torch", "import torch\nfrom torch")
        self.assertIn("get_inputs must return a list, not a Tensor", self.message(bare, build=True))
        with self.assertRaisesRegex(Failure, "cannot be read"):
            load_task(self.path + ".none")

    def test_a_missing_module_is_named_with_what_installs_it(self):
        self.assertIn("imports einopz, which is not installed", self.message("import einopz"))
        self.assertIn("-m pip install einopz", self.message("import einopz"))

    def test_one_seed_gives_one_model_and_one_input(self):
        task = self.load(LINEAR)
        a, b, c = (build_model(task, seed, CPU) for seed in (42, 42, 43))
        self.assertTrue(torch.equal(a.fc.weight, b.fc.weight) and torch.equal(a.start, b.start))
        self.assertFalse(torch.equal(a.fc.weight, c.fc.weight))
        x, y, z = (make_inputs(task, seed, 1.0, CPU)[0] for seed in (7, 7, 8))
        self.assertTrue(torch.equal(x, y))
        self.assertFalse(torch.equal(x, z))

    def test_what_numpy_and_python_draw_is_of_the_seed_too(self):
        task = self.load("""
            import random
            import numpy as np
            import torch
            from torch import nn
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.w = nn.Parameter(torch.tensor([np.random.rand(), random.random()]))
            def get_inputs(): return [torch.tensor([np.random.rand(), random.random()])]
            def get_init_inputs(): return []
            """)
        a, b, c = (build_model(task, seed, CPU).w for seed in (42, 42, 1 << 40))
        self.assertTrue(torch.equal(a, b))
        self.assertFalse((a == c).any())
        kept = KeptDraws()
        fresh, first, again = (make_inputs(task, 7, 1.0, CPU, kept=k)[0] for k in (None, kept, kept))
        self.assertTrue(torch.equal(fresh, first) and torch.equal(fresh, again))
        after = torch.tensor([numpy.random.rand(), random.random()])
        make_inputs(task, 7, 1.0, CPU)
        self.assertTrue(torch.equal(after, torch.tensor([numpy.random.rand(), random.random()])))

    def test_a_kept_draw_is_the_same_as_a_fresh_one_whatever_was_done_to_its_inputs(self):
        task, kept = self.load(LINEAR), KeptDraws()
        fresh = [make_inputs(task, 7, scale, CPU)[0] for scale in (1.0, 3.0)]
        after = torch.get_rng_state()
        for _ in range(2):
            for want, scale in zip(fresh, (1.0, 3.0)):
                got = make_inputs(task, 7, scale, CPU, kept=kept)[0]
                self.assertTrue(torch.equal(got, want))
                self.assertTrue(torch.equal(torch.get_rng_state(), after))
                got.zero_()

    def test_draws_are_kept_up_to_a_bound_the_oldest_go_first(self):
        task = self.load(LINEAR.replace("def get_inputs(): return", "DRAWN = []\ndef get_inputs(): DRAWN.append(1); return"))
        kept = KeptDraws(most_bytes=2 * input_bytes(task.get_inputs()))
        drawn = task.get_inputs.__globals__["DRAWN"]
        drawn.clear()
        for seed in (1, 2, 1, 2, 3, 2, 1):
            kept.draw(task, seed)
        self.assertEqual(len(drawn), 4)  # 1, 2, 3, and 1 again

    def test_seeds_stand_where_the_official_evaluator_puts_them(self):
        model = build_model(self.load(LINEAR), 42, CPU)
        torch.manual_seed(42)
        start = torch.rand(2)
        torch.manual_seed(42)  # again, before the constructor
        fc = nn.Linear(3, 3)
        self.assertTrue(torch.equal(model.start, start) and torch.equal(model.fc.weight, fc.weight))

    def test_only_floats_are_cast_and_scaled(self):
        task = self.load(LINEAR)
        x, index, flag = make_inputs(task, 7, -1.0, CPU)
        torch.manual_seed(7)
        self.assertTrue(torch.equal(x, (torch.rand(2, 3, dtype=torch.float64) * -1.0).float()))
        self.assertTrue(torch.equal(index, torch.tensor([1, 0])))
        self.assertIs(flag, True)
        self.assertEqual(describe([x, index, flag]), [{"shape": [2, 3], "dtype": "float32"},
                                                      {"shape": [2], "dtype": "int64"}, {"value": True}])


class Carrying(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(2)
        self.hidden = torch.zeros(2)

    def forward(self, x):
        self.hidden = self.hidden + 1
        return self.bn(x) + self.hidden


class State(unittest.TestCase):
    def test_is_buffers_then_plain_tensors(self):
        self.assertEqual(list(state_tensors(Carrying())),
                         ["bn.running_mean", "bn.running_var", "bn.num_batches_tracked", "hidden"])

    def test_is_put_back_in_the_very_tensors(self):
        model = Carrying()
        state = ModelState(model)
        hidden, first = model.hidden, model(torch.ones(3, 2))
        state.live["bn.running_var"].zero_()
        self.assertEqual(state.changed(), ["bn.running_mean", "bn.running_var", "bn.num_batches_tracked"])
        state.restore()
        self.assertEqual(state.changed(), [])
        self.assertIs(model.hidden, hidden)
        self.assertTrue(torch.equal(model(torch.ones(3, 2)), first))

    def test_nan_that_was_there_is_no_change(self):
        model = nn.Module()
        model.register_buffer("b", torch.tensor([float("nan"), 1.0]))
        self.assertEqual(ModelState(model).changed(), [])


class Flags(unittest.TestCase):
    def test_are_set_and_put_back(self):
        before = torch.get_float32_matmul_precision()
        with precision("baseline"):
            self.assertEqual(torch.get_float32_matmul_precision(), "high")
            with precision("official"):
                self.assertEqual(torch.get_float32_matmul_precision(), "highest")
                self.assertTrue(torch.backends.cudnn.allow_tf32)
        self.assertEqual(torch.get_float32_matmul_precision(), before)
        with self.assertRaises(Failure):
            precision("fast").__enter__()


class Words(unittest.TestCase):
    def test_of_cuda_errors(self):
        for text, kind in (("CUDA error: an illegal memory access was encountered", "illegal_access"),
                           ("CUDA out of memory. Tried to allocate 20.00 GiB", "out_of_memory"),
                           ("CUDA error: misaligned address", "misaligned_access"),
                           ("CUDA error: unspecified launch failure", "launch_failure"),
                           ("CUDA error: device-side assert triggered", "assert"),
                           ("CUDA error: invalid configuration argument", "launch_error"), ("shapes differ", None)):
            self.assertEqual(cuda_kind(text), kind)

    def test_only_what_loses_the_context_is_fatal(self):
        text = "CUDA error: an illegal memory access was encountered\nCUDA kernel errors might"
        lost = failure_of(RuntimeError(text), "run")
        self.assertEqual((lost.error["stage"], lost.error["kind"], lost.fatal), ("run", "illegal_access", True))
        self.assertEqual(lost.error["message"], "CUDA error: an illegal memory access was encountered")
        self.assertFalse(failure_of(torch.OutOfMemoryError("CUDA out of memory."), "run").fatal)
        self.assertTrue(failure_of(RuntimeError("CUDA error: something new"), "run").fatal)
        self.assertFalse(failure_of(ValueError("no"), "run").fatal)

    def test_of_the_executor_are_taken_over(self):
        ours = {"stage": "run", "kind": "launch_error", "message": "too large", "line": 12, "block": "python"}
        taken = failure_of(RuntimeError(f"kagent:{json.dumps(ours)}\nException raised from"), "time")
        self.assertEqual({**taken.error, "detail": ""}, {**ours, "detail": ""})
        lost = 'kagent:{"stage":"run","kind":"illegal_access","message":"x"}'
        self.assertTrue(failure_of(RuntimeError(lost), "run").fatal)
        self.assertEqual(failure_of(RuntimeError("kagent:{broken"), "run").error["kind"], "exception")


if __name__ == "__main__":
    unittest.main()
