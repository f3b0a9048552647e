"""The comparison of numbers, on values whose verdict is known."""

import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "harness"))

import torch  # noqa: E402

from check import numbers  # noqa: E402
from check.numbers import compare_numbers, within_tolerance  # noqa: E402

INF, NAN = math.inf, math.nan


def passes(got: list, want: list, dtype=torch.float32) -> bool:
    return compare_numbers(torch.tensor(got, dtype=dtype), torch.tensor(want, dtype=dtype), 1e-3).violations == 0


class Tolerance(unittest.TestCase):
    def test_is_absolute_plus_relative(self):
        self.assertTrue(passes([0.00099], [0.0]))
        self.assertFalse(passes([0.00101], [0.0]))
        self.assertTrue(passes([1001.0], [1000.0]))
        self.assertFalse(passes([1001.1], [1000.0]))

    def test_grows_with_the_smaller_of_both_magnitudes(self):
        # 1001.0019 is inside of 1e-3 + 1e-3 * 1001.0019 (the official rule) and outside of 1e-3 + 1e-3 * 1000.
        self.assertTrue(torch.allclose(torch.tensor([1000.0]), torch.tensor([1001.0015]), rtol=1e-3, atol=1e-3))
        self.assertFalse(passes([1001.0015], [1000.0]))
        self.assertFalse(torch.allclose(torch.tensor([1001.0015]), torch.tensor([1000.0]), rtol=1e-3, atol=1e-3))
        self.assertFalse(passes([1000.0], [1001.0015]))

    def test_never_passes_what_the_official_rule_fails(self):
        generator = torch.Generator().manual_seed(0)
        size = 10 ** torch.randint(-6, 7, (20000,), generator=generator).float()
        want = torch.randn(20000, generator=generator) * size
        sign = torch.where(torch.rand(20000, generator=generator) < 0.5, 1.0, -1.0)
        got = want + (1e-3 + 1e-3 * want.abs()) * sign
        ours = within_tolerance(got, want, 1e-3)
        official = torch.isclose(want, got, rtol=1e-3, atol=1e-3)
        self.assertFalse(bool((ours & ~official).any()))
        self.assertTrue(bool(ours.any()) and bool((~ours).any()))

    def test_nan_never_passes(self):
        self.assertFalse(passes([NAN], [1.0]))
        self.assertFalse(passes([1.0], [NAN]))
        self.assertFalse(passes([NAN], [NAN]))
        self.assertFalse(passes([NAN], [INF]))

    def test_infinities_match_in_place_and_sign(self):
        self.assertTrue(passes([INF, -INF], [INF, -INF]))
        self.assertFalse(passes([5.0], [INF]))
        self.assertFalse(passes([INF], [5.0]))
        self.assertFalse(passes([-INF], [INF]))
        self.assertFalse(passes([3.4e38], [INF]))

    def test_differences_that_overflow_float32_fail(self):
        self.assertFalse(passes([-3e38], [3e38]))

    def test_integers_and_bools_are_exact(self):
        self.assertFalse(passes([1000000], [1000001], torch.int64))
        self.assertTrue(passes([7], [7], torch.int64))
        self.assertFalse(passes([True], [False], torch.bool))
        self.assertFalse(passes([2**62], [2**62 + 1], torch.int64))  # doubles show no difference

    def test_complex_numbers_compare_by_parts(self):
        self.assertTrue(passes([1 + 1j], [1 + 1.0005j], torch.complex64))
        self.assertFalse(passes([1 + 1j], [1 + 1.01j], torch.complex64))


class Figures(unittest.TestCase):
    def test_one_wrong_element_among_many_is_found_and_named(self):
        want = torch.zeros(3, 1000)
        got = want.clone()
        got[2, 7] = 0.5
        found = compare_numbers(got, want, 1e-3)
        self.assertEqual((found.violations, found.elements, found.max_abs), (1, 3000, 0.5))
        self.assertEqual((found.worst_index, found.worst_got, found.worst_want), ([2, 7], 0.5, 0.0))

    def test_chunks_add_up(self):
        whole, numbers._CHUNK = numbers._CHUNK, 7
        self.addCleanup(setattr, numbers, "_CHUNK", whole)
        want = torch.ones(5, 5)
        got = want.clone()
        got[0, 1], got[4, 3], got[4, 4] = 2.0, 5.0, NAN
        found = compare_numbers(got, want, 1e-3)
        self.assertEqual((found.violations, found.max_abs, found.max_rel, found.nan), (3, 4.0, 4.0, 1))
        self.assertEqual((found.worst_index, found.worst_got), ([4, 4], "nan"))

    def test_figures_stay_finite(self):
        found = compare_numbers(torch.tensor([INF, NAN, 1.5]), torch.tensor([1.0, 1.0, 1.0]), 1e-3)
        self.assertEqual((found.max_abs, found.max_rel, found.nan, found.inf, found.violations), (0.5, 0.5, 1, 1, 3))
        self.assertIn(found.worst_got, ("inf", "nan"))

    def test_the_element_nearest_to_the_tolerance_is_named_when_all_pass(self):
        found = compare_numbers(torch.tensor([100.05, 0.0009]), torch.tensor([100.0, 0.0]), 1e-3)
        self.assertEqual(found.violations, 0)
        self.assertAlmostEqual(found.max_abs, 0.05, places=4)

    def test_bitwise_tells_zeros_apart_and_takes_a_nan_for_itself(self):
        self.assertFalse(compare_numbers(torch.tensor([-0.0]), torch.tensor([0.0]), 1e-3).bitwise)
        self.assertTrue(compare_numbers(torch.tensor([NAN]), torch.tensor([NAN]), 1e-3).bitwise)

    def test_nothing_to_compare_passes(self):
        found = compare_numbers(torch.zeros(0, 3), torch.zeros(0, 3), 1e-3)
        self.assertEqual((found.violations, found.elements, found.bitwise), (0, 0, True))

    def test_scalars_and_views_compare(self):
        self.assertEqual(compare_numbers(torch.tensor(3), torch.tensor(3), 1e-3).worst_index, [])
        base = torch.arange(12.0).view(3, 4)
        self.assertTrue(compare_numbers(base.t(), base.t().contiguous(), 1e-3).bitwise)


if __name__ == "__main__":
    unittest.main()
