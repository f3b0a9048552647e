"""Wrong versions of a task: the interpreter gives what eager gives, the checks tell mutants, and what nothing can tell is named."""
import json
import os
import sys
import tempfile
import unittest

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "harness"))
from check.structure import flatten  # noqa: E402
from model import commands  # noqa: E402
from model.inputs import tensors_of  # noqa: E402
from model.session import Session  # noqa: E402
from study.interpret import Interpreter  # noqa: E402
from study.kills import kills  # noqa: E402
from tracer.task import Task as TracedTask  # noqa: E402

NORM = """
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.fc = nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.Linear(6, 5)
    def forward(self, x):
        return self.fc(torch.relu(self.norm(self.conv(x))).mean((2, 3)))
def get_inputs():
    return [torch.randn(4, 3, 8, 8)]
def get_init_inputs():
    return []
"""
DEAD = """
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = nn.Linear(8, 8), nn.Linear(8, 8)
    def forward(self, x):
        self.unused(x)
        return self.used(x)
def get_inputs():
    return [torch.randn(4, 8)]
def get_init_inputs():
    return []
"""


class Kills(unittest.TestCase):
    def open(self, source: str) -> tuple[Session, dict]:
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(source)
            file.flush()
            session = Session("reference", "cpu", "")
            commands.task(session, {"file": file.name, "seed": 42})
            return session, TracedTask(file.name).trace(None, 1 << 20)

    def test_the_interpreter_is_bit_equal_to_eager(self):
        session, plan = self.open(NORM)
        inputs = session.inputs(3)
        with torch.no_grad():
            got = Interpreter(plan, session.model, session.device).run(tensors_of(inputs))
            session.state.restore()
            _, want = flatten(session.model(*inputs))
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(got, want)))

    def test_other_weights_tell_what_the_official_check_does_not(self):
        session, plan = self.open(NORM)
        before = {name: tensor.clone() for name, tensor in session.model.state_dict().items()}
        answer = kills(session, plan, 40)
        self.assertTrue(answer["exact"])
        self.assertGreater(answer["killed"], answer["killed_official"])  # beta is 0 in a fresh model
        # A bias in front of a normalisation by the batch's own mean has no effect at all.
        self.assertEqual([s for s in answer["survivors"] if "bfloat16" not in s], ["parameter conv.bias: ignored"])
        self.assertEqual(answer["mutants"], answer["killed"] + len(answer["survivors"]))
        for name, tensor in session.model.state_dict().items():
            self.assertTrue(torch.equal(tensor, before[name]), name)

    def test_the_manifest_names_what_the_measurement_left(self):
        with open(os.path.join(ROOT, "docs/evidence/cpu/kills.json"), encoding="utf-8") as file:
            measured = json.load(file)
        with open(os.path.join(ROOT, "tasks/manifest.json"), encoding="utf-8") as file:
            named = {task["id"]: task.get("cannot_show") for task in json.load(file)["tasks"]}
        self.assertEqual(named, {task: measured[task]["survivors"] if task in measured else None for task in named})

    def test_dead_work_is_named(self):
        survivors = kills(*self.open(DEAD), 40)["survivors"]
        self.assertIn("parameter unused.weight: ignored", survivors)
        self.assertNotIn("parameter used.weight: ignored", survivors)


if __name__ == "__main__":
    unittest.main()
