"""All rules together: structure, shape, dtype, values, state."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "harness"))

import torch  # noqa: E402

from check.changes import ReadOnly  # noqa: E402
from check.compare import compare  # noqa: E402
from check.exchange import Outcome  # noqa: E402
from check.structure import flatten, leaf_names, renumbered  # noqa: E402

X = torch.ones(2)


def verdict(got, want, got_state=None, want_state=None) -> dict:
    return compare(Outcome(*flatten(got), got_state or {}), Outcome(*flatten(want), want_state or {}), 1e-3)


class Structure(unittest.TestCase):
    def test_equal_ones_pass_bit_for_bit(self):
        for value in (X, (X, X), [X], {"a": X, "b": (X, None)}, (X, 3, None)):
            answer = verdict(value, value)
            self.assertTrue(answer["passed"] and answer["bitwise"], value)

    def test_another_one_fails(self):
        for got, want in (([X, X], (X, X)), (X, (X,)), ((X,), (X, X)), ({"a": X}, {"b": X}), ((X, 1), (X, True)),
                          ((X, 1), (X, 1.0)), ((X, None), (X, X)), ({"a": X, "b": X}, {"b": X, "a": X})):
            answer = verdict(got, want)
            self.assertFalse(answer["passed"], (got, want))
            self.assertIn("forward must return", answer["reason"])

    def test_reason_names_both(self):
        self.assertEqual(verdict(X, (X, X))["reason"], "forward must return a tuple of (a tensor, a tensor), as the "
                         "reference does; it returns a tensor")

    def test_a_file_with_too_few_tensors_fails(self):
        tree, _ = flatten((X, X))
        self.assertFalse(compare(Outcome(tree, [X], {}), Outcome(tree, [X, X], {}), 1e-3)["passed"])

    def test_leaves_have_names(self):
        tree, _ = flatten((X, {"mask": [X]}))
        self.assertEqual(leaf_names(tree), ["output[0]", 'output[1]["mask"][0]'])

    def test_a_plans_tree_is_numbered_by_leaf(self):
        tree = {"tuple": [{"t": 17}, {"value": None}, {"dict": [["k", {"t": 17}]]}]}
        self.assertEqual(renumbered(tree), {"tuple": [{"t": 0}, {"value": None}, {"dict": [["k", {"t": 1}]]}]})


class Tensors(unittest.TestCase):
    def test_nothing_is_broadcast(self):
        answer = verdict(torch.zeros(3, 1), torch.zeros(3))
        self.assertFalse(answer["passed"])
        self.assertEqual(answer["reason"], "output has shape [3, 1], the reference's has [3]")
        self.assertFalse(verdict(torch.zeros(1), torch.zeros(3))["passed"])

    def test_nothing_is_cast(self):
        self.assertFalse(verdict(torch.zeros(3, dtype=torch.float64), torch.zeros(3))["passed"])
        self.assertFalse(verdict(torch.zeros(3), torch.zeros(3, dtype=torch.int64))["passed"])

    def test_the_first_wrong_output_is_named(self):
        answer = verdict((X, X + 1), (X, X))
        self.assertEqual(answer["reason"],
                         "output[1]: 2 of 2 elements outside tolerance 0.001, worst at [0]: 2.0 instead of 1.0")
        self.assertEqual([entry["passed"] for entry in answer["outputs"]], [True, False])


class State(unittest.TestCase):
    def test_must_be_equal_too(self):
        self.assertTrue(verdict(X, X, {"bn.running_mean": X}, {"bn.running_mean": X})["passed"])
        answer = verdict(X, X, {"bn.running_mean": X}, {"bn.running_mean": X + 1})
        self.assertFalse(answer["passed"])
        self.assertTrue(answer["reason"].startswith("after the call, bn.running_mean: 2 of 2"))

    def test_counters_are_exact(self):
        one, two = torch.tensor(1), torch.tensor(2)
        self.assertFalse(verdict(X, X, {"n": one}, {"n": two})["passed"])
        self.assertTrue(verdict(X, X, {"n": two}, {"n": two})["passed"])

    def test_missing_and_added_ones_fail(self):
        self.assertIn("which the reference updates", verdict(X, X, {}, {"n": X})["reason"])
        self.assertEqual(verdict(X, X, {"input 0": X}, {})["reason"],
                         "the call writes to input 0, which the reference leaves as it is")


class Changes(unittest.TestCase):
    def test_are_seen_whatever_the_dtype(self):
        for dtype in (torch.float32, torch.float16, torch.int64, torch.uint8, torch.bool, torch.complex64):
            tensors = {"a": torch.zeros(4, 3, dtype=dtype), "b": torch.zeros(2, dtype=dtype)}
            watched = ReadOnly(tensors)
            self.assertEqual(watched.changed(), {})
            tensors["b"][1] = 1
            self.assertEqual(list(watched.changed()), ["b"], dtype)

    def test_negative_zero_is_a_change(self):
        tensor = torch.zeros(3)
        watched = ReadOnly({"a": tensor})
        tensor[0] = -0.0
        self.assertEqual(list(watched.changed()), ["a"])

    def test_nothing_to_watch_is_fine(self):
        self.assertEqual(ReadOnly({}).changed(), {})


if __name__ == "__main__":
    unittest.main()
