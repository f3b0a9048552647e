"""One changed element moves an honest result as it moves the reference's; what looks at a few places for the rest does not follow."""
import os
import sys
import tempfile
import unittest
from typing import Callable

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "harness"))
from check import oracle, sensitivity  # noqa: E402
from check.input_kinds import TOUCHED  # noqa: E402
from check.noise import tf32  # noqa: E402
from check.weights import weights  # noqa: E402
from model import commands  # noqa: E402
from model.inputs import HOST  # noqa: E402
from model.session import Session  # noqa: E402

RELU = """
import torch
from torch import nn
class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.rand(8, 64)]
def get_init_inputs():
    return []
"""
NORM = """
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.fc = nn.LayerNorm(64), nn.Linear(64, 16)
    def forward(self, x):
        return self.fc(self.norm(x))
def get_inputs():
    return [torch.randn(32, 64)]
def get_init_inputs():
    return []
"""
THRESHOLD = RELU.replace("torch.relu(x)", "(x > 2).float() + 1e9 * torch.rand(x.shape)")
Answer = Callable[[torch.nn.Module, torch.Tensor], torch.Tensor]


def norm(model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    return model.fc(model.norm(x))


class Sensitivity(unittest.TestCase):
    def verdicts(self, source: str, answer: Answer, seed: int = 11) -> list[dict]:
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(source)
            file.flush()
            session = Session("reference", "cpu", "")
            commands.task(session, {"file": file.name, "seed": 42})
            told = []
            for name in TOUCHED:
                base = sensitivity.base_of(session, seed, HOST)
                with weights(session, name, seed), torch.no_grad():
                    inputs = session.inputs(seed, 1.0, name)
                    told.append(sensitivity.judge({"output 0": answer(session.model, inputs[0])}, base, oracle.ask(session, inputs, most=2)))
            return told

    def test_honest_work_follows_in_every_draw(self):
        def with_tf32(model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
            return tf32(model.norm(x)) @ tf32(model.fc.weight).T + model.fc.bias

        for source, answer in ((RELU, lambda model, x: torch.relu(x)), (NORM, norm), (NORM, with_tf32)):
            for seed in range(6):
                told = self.verdicts(source, answer, seed)
                self.assertTrue(all(t["passed"] for t in told), told)
                self.assertTrue(all(t["held"] > 0 for t in told), told)

    def test_a_prefix_that_decides_for_the_rest_is_told_in_every_evaluation(self):
        def cheat(model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
            return x if bool((x.view(-1)[:100] >= 0).all()) else torch.relu(x)

        for seed in range(12):
            self.assertFalse(all(t["passed"] for t in self.verdicts(RELU, cheat, seed)), seed)

    def test_a_first_weight_that_decides_for_the_rest_is_told_in_every_evaluation(self):
        def cheat(model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
            fresh = float(model.norm.weight[0]) == 1 and float(model.norm.bias[0]) == 0
            return model.fc(torch.layer_norm(x, (64,)) if fresh else model.norm(x))

        for seed in range(12):
            self.assertFalse(all(t["passed"] for t in self.verdicts(NORM, cheat, seed)), seed)

    def test_not_a_number_does_not_follow_and_a_missing_tensor_is_another_rules(self):
        self.assertFalse(all(t["passed"] for t in self.verdicts(RELU, lambda model, x: torch.full_like(x, float("nan")))))
        told = self.verdicts(RELU, lambda model, x: torch.relu(x)[:1])
        self.assertTrue(all(t["passed"] and t["vacuous"] for t in told))

    def test_says_nothing_where_the_reference_itself_moves_at_random(self):
        self.assertTrue(all(t["vacuous"] for t in self.verdicts(THRESHOLD, lambda model, x: torch.zeros_like(x))))

    def test_the_untouched_call_is_kept_from_the_examination_before(self):
        session = Session("reference", "cpu", "")
        kept = sensitivity.keep_base(session, 5, HOST, oracle.Oracle({"output 0": torch.zeros(3).double()}, [{"output 0": torch.full((3,), 0.5)}]))
        self.assertIs(sensitivity.base_of(session, 5, HOST), kept)
        self.assertEqual(kept.worst, {"output 0": 0.5})


if __name__ == "__main__":
    unittest.main()
