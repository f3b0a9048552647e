"""Other weights and inputs: the same in every process, sensible in every regime, and put back afterwards."""
import os
import sys
import unittest

import torch
from torch import nn

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "harness"))
from check import input_kinds  # noqa: E402
from check.weights import REGIMES, applicable, redraw, weights  # noqa: E402
from model.failure import Failure  # noqa: E402
from model.session import Session  # noqa: E402
from model.state import ModelState  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.linear = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 4)
        self.scale = nn.Parameter(torch.tensor([-2.0, 0.0]))
        self.register_buffer("mask", torch.ones(4, 4).tril())


class Weights(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.model = Model()

    def session(self) -> Session:
        session = Session("reference", "cpu", "")
        session.model, session.state = self.model, ModelState(self.model)
        return session

    def test_redrawn_weights_hide_nothing_and_leave_masks_alone(self):
        redraw(self.model, "redrawn", 5)
        self.assertTrue(bool(((self.model.norm.weight >= 0.5) & (self.model.norm.weight <= 1.5)).all()))
        self.assertFalse(bool((self.model.norm.weight == 1).any() | (self.model.norm.bias == 0).any()))
        self.assertFalse(bool((self.model.norm.running_mean == 0).any()))
        self.assertTrue(bool((self.model.norm.running_var > 0).all()))
        self.assertTrue(torch.equal(self.model.mask, torch.ones(4, 4).tril()))
        self.assertLess(float(self.model.scale[0]), 0)  # a sign may mean something
        self.assertNotEqual(float(self.model.scale[1]), 0)

    def test_one_seed_gives_the_same_bits_and_another_does_not(self):
        other = Model()
        redraw(self.model, "he", 5)
        redraw(other, "he", 5)
        for a, b in zip(self.model.parameters(), other.parameters()):
            if a is not self.model.scale and b is not other.scale:
                self.assertTrue(torch.equal(a, b))
        redraw(other, "he", 6)
        self.assertFalse(torch.equal(self.model.conv.weight, other.conv.weight))

    def test_every_regime_puts_back_weights_and_state(self):
        before = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
        for regime in applicable(self.model):
            with weights(self.session(), regime, 3):
                changed = not torch.equal(self.model.conv.weight, before["conv.weight"])
                self.assertEqual(changed, regime != "as_built")
            for name, tensor in self.model.state_dict().items():
                self.assertTrue(torch.equal(tensor, before[name]), (regime, name))

    def test_long_memory_is_for_recurrent_networks(self):
        self.assertNotIn("long_memory", applicable(self.model))
        lstm = nn.LSTM(4, 8)
        self.assertEqual(applicable(lstm), list(REGIMES))
        redraw(lstm, "long_memory", 1)
        forget = (lstm.bias_ih_l0 + lstm.bias_hh_l0)[8:16]
        self.assertGreater(float(forget.detach().mean()), 3)
        rnn = nn.RNN(4, 8)
        redraw(rnn, "long_memory", 1)
        product = rnn.weight_hh_l0 @ rnn.weight_hh_l0.T
        self.assertTrue(torch.allclose(product, 1.44 * torch.eye(8), atol=1e-4))

    def test_one_element_of_each_parameter_is_touched_in_a_quarter_of_its_own(self):
        before = {name: p.detach().clone().view(-1) for name, p in self.model.named_parameters()}
        for quarter in range(4):
            with weights(self.session(), f"touched_{quarter}", 3):
                for name, parameter in self.model.named_parameters():
                    now, size = parameter.detach().view(-1), parameter.numel()
                    places = (now != before[name]).nonzero().view(-1).tolist()
                    self.assertEqual(len(places), 1, name)
                    self.assertTrue(size * quarter // 4 <= places[0] <= max(size * (quarter + 1) // 4, size * quarter // 4 + 1), (name, places))
                    old, new = float(before[name][places[0]]), float(now[places[0]])
                    self.assertGreater(abs(new), 8 * abs(old))
                    if name == "scale":
                        self.assertGreaterEqual(old * new, 0)  # a sign may mean something

    def test_counters_stand_where_a_long_run_would_bring_them(self):
        redraw(self.model, "redrawn", 5)
        self.assertEqual(int(self.model.norm.num_batches_tracked), 1024)
        redraw(self.model, "he", 5)
        self.assertTrue(bool((self.model.norm.running_var.view(torch.int32) & 0xFFF == 0xFFF).all()))
        self.assertTrue(bool((self.model.norm.running_var > 0.4).all()))

    def test_a_model_without_weights_has_no_other_regime(self):
        self.assertEqual(applicable(nn.ReLU()), ["as_built"])

    def test_an_unknown_regime_is_refused(self):
        with self.assertRaises(Failure):
            redraw(self.model, "odd", 1)


class Inputs(unittest.TestCase):
    def test_each_kind_keeps_shape_and_depends_on_the_seed_alone(self):
        x, labels = torch.randn(4, 6, 2048, generator=torch.Generator().manual_seed(1)), torch.arange(4)
        for kind in input_kinds.KINDS:
            a, b = (input_kinds.apply(kind, [x.clone(), labels, 3], 9) for _ in range(2))
            self.assertEqual(a[0].shape, x.shape)
            self.assertTrue(torch.equal(a[0], b[0]))
            self.assertTrue(torch.equal(a[1], labels))
            self.assertEqual(a[2], 3)
            self.assertEqual(torch.equal(a[0], x), kind == "as_drawn")

    def test_one_touched_element_in_a_quarter_of_its_own(self):
        x = torch.rand(4, 100)
        for quarter in range(4):
            found = set()
            for seed in range(10):
                (y,) = input_kinds.apply(f"touched_{quarter}", [x.clone()], seed)
                places = (x != y).view(-1).nonzero().view(-1).tolist()
                self.assertEqual([p // 100 for p in places], [quarter])
                self.assertEqual(float(y.view(-1)[places[0]]) < 0, quarter != 2)
                found.update(places)
            self.assertGreater(len(found), 5)

    def test_numbers_near_one_stand_between_usual_ones(self):
        x = torch.rand(16, 500)
        begins = set()
        for seed in range(20):
            (y,) = input_kinds.apply("near_one", [x.clone()], seed)
            changed = [i for i in range(16) if not torch.equal(x[i], y[i])]
            self.assertEqual(len(changed), 8)
            self.assertTrue(0 < changed[0] and changed[-1] < 15)
            self.assertTrue(bool((y[changed] - 1).abs().max() < 0.02))
            begins.add(changed[0])
        self.assertGreater(len(begins), 2)
        for shape in ((1, 64), (2, 3), (1,), (5,)):
            (y,) = input_kinds.apply("near_one", [torch.rand(shape)], 1)
            self.assertTrue(y.shape == torch.Size(shape) and bool(y.isfinite().all()))

    def test_one_outlier_in_each_tile_of_4096(self):
        (x,) = input_kinds.apply("outliers", [torch.rand(3, 4096)], 2)
        self.assertEqual((x.abs() == 30).sum(1).tolist(), [1, 1, 1])
        (small,) = input_kinds.apply("outliers", [torch.rand(10)], 2)
        self.assertEqual(int((small.abs() == 30).sum()), 1)

    def test_a_suffix_leaves_the_prefix_alone(self):
        x = torch.rand(1, 1000)
        (y,) = input_kinds.apply("suffix", [x.clone()], 2)
        self.assertTrue(torch.equal(x[0, :750], y[0, :750]))
        self.assertTrue(bool((y[0, 750:].abs() >= 8 * x[0, 750:]).all()))
        self.assertTrue(bool((y[0, 750:] < 0).any() and (y[0, 750:] > 0).any()))


if __name__ == "__main__":
    unittest.main()
