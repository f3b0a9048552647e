"""Whether a baseline passes the official check: on the CPU, with right and wrong ones; and torch.compile only where it is allowed."""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest

import torch

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "harness"))

from check.structure import flatten  # noqa: E402
from measure.contenders import Eager  # noqa: E402
from measure.official import official_check  # noqa: E402
from model import commands  # noqa: E402
from model.session import Session  # noqa: E402

TASK = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)
        self.register_buffer("calls", torch.zeros(()))
    def forward(self, x):
        self.calls += 1
        return self.linear(x).relu() + self.calls
def get_inputs():
    return [torch.rand(16, 8)]
def get_init_inputs():
    return []
"""
can_compile = unittest.skipUnless((shutil.which("g++") or shutil.which("c++")) and
                                  os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")), "torch.compile needs a C++ compiler and Python.h")


class Wrong:
    """The reference with something done to its output."""

    def __init__(self, model, change):
        self._model, self._change = model, change

    def mode(self):
        return contextlib.nullcontext()

    def once(self, inputs):
        with torch.no_grad():
            return flatten(self._change(self._model(*inputs), inputs[0]))


class OfficialCheck(unittest.TestCase):
    def setUp(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(TASK)
            file.flush()
            self.session = Session("reference", "cpu", "")
            commands.task(self.session, {"cmd": "task", "file": file.name, "seed": 42})

    def check(self, change):
        return official_check(self.session, Wrong(self.session.model, change), 42, 1e-3)

    def test_eager_passes_on_all_four_distributions_from_the_initial_state_each(self):
        answer = official_check(self.session, Eager(self.session.model), 42, 1e-3)
        self.assertTrue(answer["passed"])
        self.assertEqual([d["scale"] for d in answer["distributions"]], [1.0, 3.0, 0.01, -1.0])
        self.assertEqual([(d["violations"], d["elements"], d["max_abs"]) for d in answer["distributions"]], [(0, 64, 0.0)] * 4)
        self.assertEqual(float(self.session.model.calls), 0.0)

    def test_one_element_outside_the_tolerance_is_one_violation(self):
        def one_off(y, _):
            y[3, 2] += 0.5
            return y

        answer = self.check(one_off)
        self.assertFalse(answer["passed"])
        self.assertEqual([d["violations"] for d in answer["distributions"]], [1] * 4)
        self.assertAlmostEqual(answer["distributions"][0]["max_abs"], 0.5, places=5)

    def test_what_is_wrong_for_one_distribution_only_fails(self):
        answer = self.check(lambda y, x: y + 1 if float(x.min()) < 0 else y)
        self.assertFalse(answer["passed"])
        self.assertEqual([d["violations"] for d in answer["distributions"]], [0, 0, 0, 64])

    def test_noise_within_the_tolerance_passes(self):
        self.assertTrue(self.check(lambda y, _: y + 5e-4)["passed"])

    def test_another_shape_fails_with_a_reason(self):
        answer = self.check(lambda y, _: y[:1])
        self.assertFalse(answer["passed"])
        self.assertIn("shape", answer["distributions"][0]["reason"])


class MayCompile(unittest.TestCase):
    def asked(self, *flags):
        """The answers of a worker to `task` and to `passes_official` of torch.compile."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "task.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(TASK)
            requests = [{"cmd": "task", "file": path}] + [{"cmd": "passes_official", "kind": kind} for kind in ("compile", "compile_reduce_overhead")]
            done = subprocess.run([sys.executable, "-s", "-E", os.path.join(ROOT, "harness", "worker.py"), "--role", "reference", "--backend", "cpu", *flags],
                                  input="".join(json.dumps(r) + "\n" for r in requests), capture_output=True, text=True, check=False,
                                  env={"PATH": os.environ["PATH"], "HOME": folder, "TMPDIR": folder})
            answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(answers), 3, done.stderr)
        self.assertTrue(answers[0]["ok"], answers[0])
        return answers[1:]

    def test_a_worker_that_judges_may_not(self):
        for answer in self.asked():
            self.assertFalse(answer["ok"])
            self.assertIn("may not compile", answer["error"]["message"])

    @can_compile
    def test_what_it_makes_passes_in_both_modes(self):
        for answer in self.asked("--may-compile"):
            self.assertTrue(answer["ok"], answer)
            self.assertTrue(answer["passed"], answer)


if __name__ == "__main__":
    unittest.main()
