"""Timing, memory and device facts. What needs a GPU is skipped, with the reason, where there is none."""

import contextlib
import os
import shutil
import statistics
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "harness"))

import torch  # noqa: E402
from torch import nn  # noqa: E402

from measure import nvml  # noqa: E402
from measure.compiled import MODES, Compiled  # noqa: E402
from measure.contenders import Eager, GraphedEager  # noqa: E402
from measure.device import arch_of, device_facts  # noqa: E402
from measure.distributions import affordable_sets, by_distribution, scaled_input  # noqa: E402
from measure.floor import floor_ms, least_bytes  # noqa: E402
from measure.input_sets import set_count, set_seeds  # noqa: E402
from measure.official import official_check  # noqa: E402
from measure.timing import Timer  # noqa: E402
from model import commands  # noqa: E402
from model.failure import Failure  # noqa: E402
from model.session import Session  # noqa: E402
from model.state import ModelState  # noqa: E402

MIB = 1 << 20
needs_gpu = unittest.skipUnless(torch.cuda.is_available(), "needs a CUDA GPU")


class InputSets(unittest.TestCase):
    def test_small_ones_are_many_and_large_ones_three(self):
        self.assertEqual(set_count(1 * MIB, 60 * MIB, 100_000 * MIB), 8)
        self.assertEqual(set_count(40 * MIB, 60 * MIB, 100_000 * MIB), 5)  # 200 MiB are past three L2 caches
        self.assertEqual(set_count(400 * MIB, 60 * MIB, 100_000 * MIB), 3)

    def test_memory_limits_them_down_to_one(self):
        self.assertEqual(set_count(4096 * MIB, 60 * MIB, 100_000 * MIB), 2)  # 8 GiB together
        self.assertEqual(set_count(100 * MIB, 60 * MIB, 250 * MIB), 1)
        self.assertEqual(set_count(100_000 * MIB, 60 * MIB, 1), 1)
        self.assertEqual(set_count(0, 60 * MIB, 1000 * MIB), 8)

    def test_each_has_a_seed_of_its_own(self):
        self.assertEqual(set_seeds(42, 3), [42, 1042, 2042])


class Device(unittest.TestCase):
    def test_hopper_is_targeted_with_its_own_instructions(self):
        self.assertEqual([arch_of(9, 0), arch_of(8, 0), arch_of(8, 9), arch_of(12, 0)],
                         ["sm_90a", "sm_80", "sm_89", "sm_120"])

    def test_heat_and_hardware_slow_down_and_the_power_cap_does_not(self):
        for mask, words in ((0x4, []), (0x24, ["thermal_software"]), (0xC8, ["hardware_slowdown", "thermal_hardware", "power_brake"])):
            with unittest.mock.patch.object(nvml.Nvml, "number", return_value=mask):
                self.assertEqual(nvml.slowed_by(), words)

    def test_throttle_reasons_have_words(self):
        self.assertEqual(nvml.throttle_words(0x24), ["power_cap", "thermal_software"])
        self.assertEqual(nvml.throttle_words(0), [])

    @unittest.skipIf(torch.cuda.is_available(), "there is a GPU here")
    def test_without_nvml_nothing_is_known_and_nothing_fails(self):
        self.assertEqual(nvml.gpu_processes(), [])
        self.assertEqual(nvml.slowed_by(), [])
        self.assertEqual(nvml.clocks(), {"sm_mhz": None, "memory_mhz": None, "temperature_c": None,
                                         "throttle_reasons": None, "throttled_by": []})

    @needs_gpu
    def test_facts_of_a_real_one_are_plausible(self):
        facts = device_facts()
        self.assertTrue(facts["arch"].startswith("sm_"))
        self.assertGreaterEqual(facts["shared_per_block"], 48 << 10)
        self.assertGreater(facts["shared_per_sm"], facts["shared_per_block"])
        for key in ("sm_count", "registers_per_sm", "threads_per_sm", "blocks_per_sm", "l2_bytes", "memory_bytes"):
            self.assertGreater(facts[key], 0, key)


class Distributions(unittest.TestCase):
    def test_runs_that_took_turns_are_told_apart(self):
        self.assertEqual(by_distribution([1, 10, 2, 20, 3, 90], ["x1", "x3"]), {"x1": 2, "x3": 20})

    def test_only_floating_inputs_are_scaled(self):
        self.assertTrue(torch.equal(scaled_input(torch.tensor([1.0, 2.0]), -1.0), torch.tensor([-1.0, -2.0])))
        self.assertEqual([scaled_input(torch.tensor([3]), 3.0).item(), scaled_input(7, 3.0)], [3, 7])

    def test_inputs_that_do_not_fit_are_not_timed(self):
        self.assertEqual([affordable_sets(1 * MIB, free * MIB) for free in (8, 16, 32, 1000)], [0, 1, 2, 2])


def tensor(*shape: int, storage: int) -> dict:
    return {"shape": list(shape), "dtype": "float32", "storage": storage}


def reference(step: dict, more: list, outputs: int = 2) -> dict:
    """x (1000 x 100) and w (50 x 100) and one step that makes tensor 2."""
    tensors = [tensor(1000, 100, storage=0), tensor(50, 100, storage=1), *more]
    return {"tensors": tensors, "inputs": [{"t": 0}], "parameters": [["w", 1]], "buffers": [], "state": [], "constants": [],
            "forward": [{"kwargs": {}, "results": [{"t": 2}], **step}], "outputs": {"t": outputs}}


class Floor(unittest.TestCase):
    class Gpu:
        def attribute(self, number):
            return {36: 1_000_000, 37: 4096, 38: 50 * MIB}[number]  # 1 GHz, 512 bytes: 1.024 TB/s; an L2 of 50 MiB

    def test_outputs_and_most_of_what_is_read_must_move(self):
        plan = reference({"op": "aten::linear", "args": [{"t": 0}, {"t": 1}]}, [tensor(1000, 50, storage=2)])
        self.assertEqual(least_bytes(plan), 4 * (1000 * 50 + 0.75 * (1000 * 100 + 50 * 100)))

    def test_where_something_is_picked_inputs_need_not_be_read(self):
        plan = reference({"op": "aten::index_select", "args": [{"t": 0}, 0, {"t": 1}]}, [tensor(10, 100, storage=2)])
        self.assertEqual(least_bytes(plan), 4 * 10 * 100)

    def test_a_view_of_an_input_need_not_be_written(self):
        plan = reference({"op": "aten::view", "args": [{"t": 0}, [100000]]}, [tensor(100000, storage=0)])
        self.assertEqual(least_bytes(plan), 0.75 * 4 * 1000 * 100)

    def test_windows_with_gaps_leave_elements_out(self):
        def counted(stride: int) -> float:
            plan = reference({"op": "aten::conv2d", "args": [{"t": 0}, {"t": 1}, None, [stride, stride]]}, [tensor(1, 1, 8, 8, storage=2)])
            plan["tensors"][1] = tensor(1, 1, 2, 2, storage=1)
            return least_bytes(plan)

        self.assertEqual(counted(3), 4 * 64)
        self.assertGreater(counted(2), 4 * 64)

    def test_the_l2_is_given_for_nothing(self):
        self.assertEqual(floor_ms(50 * MIB, self.Gpu()), 0)
        self.assertAlmostEqual(floor_ms(50 * MIB + 1.024e9, self.Gpu()), 1.0)


class Counter(nn.Module):
    """Its output depends on how often it was called."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), device="cuda"))
        self.carried = torch.zeros(4, device="cuda")

    def forward(self, x):
        self.calls += 1
        self.carried = self.carried + x
        return x + self.calls + self.carried


class Halting(nn.Module):
    def forward(self, x):
        return x * float(x.sum().item())


def timer_of(contender_of, model) -> Timer:
    state = ModelState(model)
    sets = [[torch.full((4,), float(i), device="cuda")] for i in range(3)]
    return Timer(contender_of(model, state), sets, [0, 1, 2], state, warmup=2)


@needs_gpu
class Timing(unittest.TestCase):
    def test_bursts_are_as_long_as_asked_and_positive(self):
        timer = timer_of(lambda model, state: Eager(model), Counter().cuda())
        times = timer.burst(5)
        self.assertEqual(len(times), 5)
        self.assertTrue(all(0 < ms < 100 for ms in times), times)

    def test_every_timed_run_starts_from_the_initial_state(self):
        timer = timer_of(lambda model, state: Eager(model), Counter().cuda())
        for _ in range(5):
            timer.burst(4)
            x = torch.full((4,), float(timer.seeds[timer.kept.index]), device="cuda")
            self.assertTrue(torch.equal(timer.kept.output, x + 1 + x))
            self.assertEqual(float(timer.kept.state["calls"]), 1.0)

    def test_a_graph_of_each_set_is_captured_before_anything_is_timed(self):
        times = timer_of(GraphedEager, Counter().cuda()).burst(12)
        self.assertLess(max(times), 10 * statistics.median(times) + 0.2, times)

    def test_what_cannot_be_captured_says_so_and_leaves_the_stream_as_it_was(self):
        stream = torch.cuda.current_stream()
        with self.assertRaises(Failure) as caught:
            timer_of(GraphedEager, Halting())
        self.assertEqual(caught.exception.error["kind"], "not_capturable")
        self.assertEqual(torch.cuda.current_stream(), stream)
        self.assertEqual(float((torch.ones(3, device="cuda") * 2).sum()), 6.0)

    def test_a_known_amount_of_work_takes_about_as_long_as_it_must(self):
        sleep_cycles = 2_000_000

        class Sleeper:
            def mode(self):
                return contextlib.nullcontext()

            def begin(self, sets):
                return 0

            def clear(self):
                pass

            def run(self, index):
                torch.cuda._sleep(sleep_cycles)

        state = ModelState(nn.Identity())
        one = statistics.median(Timer(Sleeper(), [[]], [0], state, warmup=3).burst(7))
        sleep_cycles *= 2
        two = statistics.median(Timer(Sleeper(), [[]], [0], state, warmup=3).burst(7))
        self.assertAlmostEqual(two / one, 2.0, delta=0.2)

    def test_one_input_set_that_fits_into_the_l2_is_as_slow_as_rotated_ones(self):
        class Reads(nn.Module):
            def forward(self, x):
                return x.amax()

        def sets(count: int) -> list:
            return [[torch.rand(5 * MIB, device="cuda")] for _ in range(count)]  # 20 MiB each

        def median_ms(inputs: list) -> float:
            return statistics.median(Timer(Eager(Reads()), inputs, list(range(len(inputs))), ModelState(nn.Identity()), warmup=3).burst(31))

        warm = sets(1)
        self.assertAlmostEqual(median_ms(warm) / median_ms(sets(12)), 1.0, delta=0.1)
        # What a warm L2 would have given: the same events round calls between which nothing is flushed.
        times = []
        for _ in range(31):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda.synchronize()
            begin.record()
            warm[0][0].amax()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end))
        self.assertLess(statistics.median(times), 0.9 * median_ms(warm))

    def test_peak_counts_outputs_and_scratch_but_nothing_held_before(self):
        class Wide(nn.Module):
            def forward(self, x):
                return (x + 1).sum() + x.sum()

        model, state = Wide(), ModelState(nn.Identity())
        sets = [[torch.zeros(MIB, device="cuda")]]  # 4 MiB
        timer = Timer(Eager(model), sets, [0], state, warmup=2)
        self.assertGreaterEqual(timer.peak_bytes, 4 * MIB)
        self.assertLess(timer.peak_bytes, 5 * MIB)


class InPlace(nn.Module):
    def forward(self, x):
        return x.add_(1) * 2


def runs_of(model_of, contender_of) -> torch.Tensor:
    """What a contender makes of inputs of its own, from the initial state."""
    model = model_of().cuda()
    state = ModelState(model)
    contender = contender_of(model, state)
    with contender.mode():
        tree, outputs = contender.once([torch.full((4,), 3.0, device="cuda")])
    torch.cuda.synchronize()
    state.restore()
    assert tree == {"t": 0}
    return outputs[0].cpu()


@needs_gpu
class Once(unittest.TestCase):
    def test_a_graph_makes_of_inputs_what_eager_makes_of_them(self):
        for model in (Counter, InPlace):
            self.assertTrue(torch.equal(runs_of(model, GraphedEager), runs_of(model, lambda m, _: Eager(m))), model)

    def test_the_official_check_sees_tf32_in_large_products(self):
        session = Session("reference", "cuda", "")
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write("import torch\nclass Model(torch.nn.Linear):\n    pass\n"
                       "def get_inputs():\n    return [torch.randn(256, 4096)]\ndef get_init_inputs():\n    return [4096, 4096, False]\n")
            file.flush()
            commands.task(session, {"cmd": "task", "file": file.name, "seed": 42})
        answer = official_check(session, Eager(session.model), 42, 1e-3)
        violations = {d["scale"]: d["violations"] for d in answer["distributions"]}
        self.assertFalse(answer["passed"])
        self.assertGreater(violations[3.0], 0)
        self.assertEqual(violations[0.01], 0)


@needs_gpu
@unittest.skipUnless(shutil.which("gcc") or shutil.which("cc"), "torch.compile needs a C compiler")
class CompiledTiming(unittest.TestCase):
    def test_both_modes_are_timed_from_the_initial_state_and_take_memory(self):
        for mode in MODES.values():
            with self.subTest(mode=mode):
                timer = timer_of(lambda model, state, mode=mode: Compiled(model, state, mode), Counter())
                for _ in range(3):
                    self.assertTrue(all(0 < ms < 100 for ms in timer.burst(4)))
                    self.assertEqual(float(timer.kept.state["calls"]), 1.0)
                self.assertGreater(timer.peak_bytes, 0)

    def test_both_modes_make_what_eager_makes(self):
        for mode in MODES.values():
            with self.subTest(mode=mode):
                got = runs_of(Counter, lambda model, state, mode=mode: Compiled(model, state, mode))
                self.assertTrue(torch.equal(got, runs_of(Counter, lambda m, _: Eager(m))))

    def test_what_cannot_be_compiled_says_so(self):
        class Refuses(nn.Module):
            def forward(self, x):
                raise ValueError("not like this")

        with self.assertRaises(Failure) as caught:
            timer_of(lambda model, state: Compiled(model, state, "default"), Refuses())
        self.assertEqual(caught.exception.error["kind"], "not_compilable")
        self.assertIn("not like this", caught.exception.error["message"])


if __name__ == "__main__":
    unittest.main()
