"""Accuracy against double precision: honest work passes, cheats and lower precision do not, whatever the magnitudes."""
import json
import os
import sys
import unittest

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "harness"))
from check import accuracy  # noqa: E402
from check.noise import UlpNoise, tf32  # noqa: E402
from check.oracle import Oracle  # noqa: E402


def product(a: torch.Tensor, b: torch.Tensor) -> Oracle:
    return Oracle({"output 0": a.double() @ b.double()}, [{"output 0": a @ b}, {"output 0": tf32(a) @ tf32(b)}], 1)


class Accuracy(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.a, self.b = torch.randn(64, 128), torch.randn(128, 64)
        self.oracle = product(self.a, self.b)

    def judge(self, got: torch.Tensor, oracle: Oracle | None = None) -> dict:
        return accuracy.judge({"output 0": got}, oracle or self.oracle)

    def test_takes_float32_in_another_order_and_tf32(self):
        split = sum(self.a[:, k:k + 1] @ self.b[k:k + 1] for k in range(128))
        for honest in (self.a @ self.b, split, tf32(self.a) @ tf32(self.b)):
            answer = self.judge(honest)
            self.assertTrue(answer["passed"], answer["reason"])
            self.assertTrue(answer["sensitive"])
            self.assertFalse(answer["vacuous"])

    def test_tells_tf32_from_numbers_split_into_narrow_parts(self):
        def parts(x: torch.Tensor) -> list[torch.Tensor]:
            high = x.bfloat16().float()
            middle = (x - high).bfloat16().float()
            return [high, middle, x - high - middle]

        split = sum(p @ q for p in parts(self.a) for q in parts(self.b))
        self.assertTrue(self.judge(split)["float32_like"])
        self.assertFalse(self.judge(tf32(self.a) @ tf32(self.b))["float32_like"])

    def test_refuses_bfloat16_operands(self):
        self.assertFalse(self.judge(self.a.bfloat16().float() @ self.b.bfloat16().float())["passed"])

    def test_refuses_one_wrong_row_and_not_a_number(self):
        wrong = self.a @ self.b
        wrong[3] = 0
        self.assertFalse(self.judge(wrong)["passed"])
        wrong = self.a @ self.b
        wrong[5, 5] = float("nan")
        self.assertFalse(self.judge(wrong)["passed"])

    def test_refuses_small_elements_set_to_zero_beside_huge_ones(self):
        a = self.a.clone()
        a[0] *= 1e6
        right = a @ self.b
        cheat = torch.zeros_like(right)
        cheat[0] = right[0]
        self.assertTrue(self.judge(right, product(a, self.b))["passed"])
        self.assertFalse(self.judge(cheat, product(a, self.b))["passed"])

    def test_one_element_near_zero_among_few_decides_nothing(self):
        def held(count: int, bad: int) -> bool:
            exact = torch.ones(count, dtype=torch.double)
            exact[:bad] = 1e-4
            noise = 1e-5 * torch.ones(count)
            honest = exact.float() + noise
            honest[:bad] = exact[:bad].float() * (1 + 1e-4)  # luck: the honest run is near there
            got = exact.float() + noise
            return self.judge(got, Oracle({"output 0": exact}, [{"output 0": honest}], 1))["passed"]

        self.assertTrue(held(128, 2))
        self.assertFalse(held(12800, 200))

    def test_an_exact_reference_leaves_room_for_rounding_only(self):
        exact = Oracle({"output 0": self.a.double()}, [{"output 0": self.a}])
        self.assertTrue(self.judge(self.a * (1 + 1e-7), exact)["passed"])
        self.assertFalse(self.judge(self.a * (1 + 1e-4), exact)["passed"])

    def test_state_that_honest_work_updates_exactly_has_no_free_bits(self):
        count = torch.full((8,), 3.0)
        off = count.clone()
        off[2] = 3 * (1 + 2.0**-22)
        for name, allowed in (("calls", False), ("output 0", True)):
            oracle = Oracle({name: count.double()}, [{name: count}, {name: count.clone()}], 1)
            self.assertTrue(accuracy.judge({name: count}, oracle)["passed"])
            self.assertEqual(accuracy.judge({name: off}, oracle)["passed"], allowed)

    def test_says_nothing_where_honest_work_is_all_noise(self):
        noise = Oracle({"output 0": self.a.double()}, [{"output 0": self.a + torch.randn_like(self.a)}])
        answer = self.judge(self.a + torch.randn_like(self.a), noise)
        self.assertTrue(answer["passed"])
        self.assertTrue(answer["vacuous"])

    def test_leaves_out_a_few_elements_that_are_not_finite_and_no_more(self):
        a = self.a.clone()
        a[0, 0] = float("inf")
        oracle = product(a, self.b)
        self.assertTrue(self.judge(a @ self.b, oracle)["vacuous"])  # a whole row of 64 is more than a hundredth
        exact = torch.randn(1000).double()
        exact[0] = float("inf")
        few = Oracle({"output 0": exact}, [{"output 0": exact.float()}])
        answer = self.judge(torch.zeros(1000), few)
        self.assertFalse(answer["passed"])
        self.assertFalse(answer["vacuous"])

    def test_an_output_that_is_the_same_for_all_samples_is_not_sensitive(self):
        constant = self.b[:1].expand(64, 64).contiguous()
        oracle = Oracle({"output 0": constant.double()}, [{"output 0": constant}])
        answer = self.judge(constant, oracle)
        self.assertTrue(answer["passed"])
        self.assertFalse(answer["sensitive"])

    def test_zeros_and_the_best_constant_are_held_against_each_draw(self):
        both = accuracy.judge({"output 0": 2e-4 * self.a}, Oracle({"output 0": 2e-4 * self.a.double()}, [{"output 0": 2e-4 * self.a}]))
        self.assertEqual(both["constants_pass"], ["zeros", "constant"])  # of the official check, which a constant takes in here
        self.assertTrue(both["sensitive"])                              # and this one does not
        shifted = 3 + 1e-4 * self.a
        self.assertEqual(self.judge(shifted, Oracle({"output 0": shifted.double()}, [{"output 0": shifted}]))["constants_pass"], ["constant"])
        self.assertEqual(self.judge(self.a @ self.b)["constants_pass"], [])
        controls = self.judge(self.a @ self.b)["tensors"][0]["controls"]
        self.assertEqual(sorted(controls), ["constant", "zeros"])
        zeros = torch.zeros(8, 8)
        self.assertFalse(self.judge(zeros, Oracle({"output 0": zeros.double()}, [{"output 0": zeros}]))["sensitive"])

    def test_an_infinite_error_is_written_as_a_word(self):
        wrong = self.a @ self.b
        wrong[0, 0] = float("inf")
        answer = self.judge(wrong)
        self.assertFalse(answer["passed"])
        self.assertEqual(json.loads(json.dumps(answer, allow_nan=False))["tensors"][0]["error"], "inf")

    def test_refuses_a_missing_or_misshapen_tensor(self):
        self.assertFalse(accuracy.judge({}, self.oracle)["passed"])
        self.assertFalse(self.judge(torch.zeros(64, 1))["passed"])


class Noise(unittest.TestCase):
    def test_a_mask_of_infinities_stays_a_mask_under_noise(self):
        scores = torch.randn(8, 8).masked_fill(torch.ones(8, 8).triu(1) == 1, float("-inf"))
        plain = scores.softmax(-1) @ torch.ones(8, 3)
        with UlpNoise(torch.device("cpu"), 1, 8.0, operands=True):
            noisy = scores.softmax(-1) @ torch.ones(8, 3)
        self.assertTrue(bool(noisy.isfinite().all()))
        self.assertTrue(torch.allclose(noisy, plain, atol=1e-5))
        self.assertFalse(torch.equal(noisy, plain))

    def test_a_sum_that_cancels_is_off_by_ulps_of_what_it_adds_up(self):
        x = torch.randn(1000, 64, generator=torch.Generator().manual_seed(3))
        x[500:] = -x[:500]
        with UlpNoise(torch.device("cpu"), 1, 8.0, operands=True):
            disturbed = x.sum(0)
        with UlpNoise(torch.device("cpu"), 1, 8.0):
            result_only = x.sum(0)
        self.assertGreater(float(disturbed.abs().median()), 5e-6)
        self.assertLess(float(result_only.abs().median()), 5e-6)

    def test_the_operand_of_a_product_and_not_its_summand_is_disturbed(self):
        bias, a, b = torch.full((2, 2), 1e6), torch.ones(2, 3), torch.ones(3, 2)
        with UlpNoise(torch.device("cpu"), 1, 8.0, names=(), operands=True):
            out = torch.addmm(bias, a, b)
        self.assertLess(float((out - 1000003).abs().max()), 0.13)  # an ulp of the result, not eight of the summand


class Tf32(unittest.TestCase):
    def test_rounds_to_ten_bits_of_mantissa_and_keeps_infinities(self):
        x = torch.tensor([1.0 + 2.0**-11, 1.0 + 2.0**-12, -1.0 - 2.0**-11, float("inf"), float("-inf")])
        self.assertEqual(tf32(x).tolist(), [1.0 + 2.0**-10, 1.0, -1.0 - 2.0**-10, float("inf"), float("-inf")])
        self.assertTrue(bool(tf32(torch.tensor([float("nan")])).isnan()))


if __name__ == "__main__":
    unittest.main()
