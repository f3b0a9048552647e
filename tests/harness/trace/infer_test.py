"""Re-inference (harness/plan/infer.py): plans of the tracer pass; each kind of lie is rejected by its name; hostile plans end in Rejected
or pass, and nothing else happens."""

import copy
import json
import logging
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "harness"))

import torch  # noqa: E402

from plan.infer import Rejected, facts_of, infer  # noqa: E402
from tracer_process import HEAD, TracerTest, forward  # noqa: E402

TASK = """
import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.bn = nn.BatchNorm2d(4)
        self.lstm = nn.LSTM(6, 5, batch_first=True)
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.last = torch.zeros(2, 4)
    def forward(self, x, k):
        x = self.bn(self.conv(x)).mean(2) * k
        x = self.attention(x, x, x, need_weights=False)[0]
        out, _ = self.lstm(x)
        self.last += out.sum(2)
        return out[:, -1], self.last
def get_inputs(): return [torch.rand(2, 3, 8, 8), 2]
def get_init_inputs(): return []
"""
PROGRAM = HEAD + """class ModelNew(Model):
    def prepare(self):
        self.w = self.conv.weight.reshape(4, -1) * 2
    def forward(self, x, k):
        y = F.conv2d(x, self.conv.weight, self.conv.bias)
        a, b = y.split(2, dim=1)
        z = torch.empty_like(a)
        kg.launch("k", grid=1, block=1, args=[a, z, kg.array([b, self.w])])
        v = z.select(1, 0)
        v.add_(1)
        return z, kg.constant([1.0, 2.0]), torch.cat([a, b]), self.w
"""


class InferTest(TracerTest):
    TASK = TASK

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)  # it logs every operator that refuses its arguments
        names: dict = {}
        exec(TASK, names)  # noqa: S102
        cls.facts = facts_of(names["Model"](), names["get_inputs"]())
        cls.own = json.loads(cls.tracer.ask("trace", program=PROGRAM, device={})["plan"])
        cls.whole = json.loads(cls.tracer.ask("trace_reference", device={})["plan"])

    def setUp(self):
        self.p = copy.deepcopy(self.own)

    def step(self, name: str) -> dict:
        return next(s for s in self.p["prepare"] + self.p["forward"] if s.get("op") == name)

    def add(self, op: str, args: list, kwargs: dict | None = None, at: int | None = None, phase: str = "forward", results: int = 1, **claim) -> int:
        """A step of our own whose one result claims what is given; returns its id."""
        i = len(self.p["tensors"])
        base = {"shape": [2], "stride": [1], "offset": 0, "dtype": "float32", "storage": i}
        self.p["tensors"].append({**base, **claim})
        self.p[phase].insert(len(self.p[phase]) if at is None else at, {"op": op, "args": args, "kwargs": kwargs or {}, "results": [{"t": i}] * results, "line": 77})
        return i

    def rejects(self, kind: str, says: str = "", facts: dict | None = None):
        with self.assertRaises(Rejected) as caught:
            infer(self.p, facts or self.facts)
        self.assertEqual(caught.exception.kind, kind, caught.exception)
        self.assertIn(says, caught.exception.message)
        return caught.exception


class Truth(InferTest):
    def test_traced_plans_pass(self):
        infer(self.own, self.facts)
        infer(self.whole, self.facts)

    def test_a_plan_is_not_changed(self):
        infer(self.p, self.facts)
        self.assertEqual(self.p, self.own)

    def test_facts_are_the_models(self):
        self.assertEqual(self.facts["inputs"], [{"shape": [2, 3, 8, 8], "stride": [192, 64, 8, 1], "dtype": "float32"}, 2])
        self.assertEqual([n for n, _ in self.facts["buffers"]], ["bn.running_mean", "bn.running_var", "bn.num_batches_tracked"])
        self.assertEqual([n for n, _ in self.facts["state"]], ["last"])


class Lies(InferTest):
    def test_about_every_field_of_every_tensor(self):
        for i in range(len(self.own["tensors"])):
            for key, lie in (("shape", lambda v: [*v, 1]), ("stride", lambda v: [2 * s + 1 for s in v] or [1]), ("offset", lambda v: v + 1),
                             ("dtype", lambda v: "float16" if v != "float16" else "float32"), ("storage", lambda v: v + 1)):
                self.p = copy.deepcopy(self.own)
                self.p["tensors"][i][key] = lie(self.p["tensors"][i][key])
                with self.assertRaises(Rejected, msg=f"tensor {i} {key}") as caught:
                    infer(self.p, self.facts)
                self.assertIn(caught.exception.kind, ("wrong_claim", "bad_plan"), caught.exception)

    def test_about_the_size_of_a_constant(self):
        for data in ("", "AACAPw==", "AACAPwAAAEAAAIA/", "????", 3):
            self.p["constants"][0]["data"] = data
            with self.assertRaises(Rejected, msg=data):
                infer(self.p, self.facts)

    def test_about_a_larger_view(self):
        view = self.step("aten::select.int")["results"][0]["t"]
        self.p["tensors"][view]["shape"] = [4, 6, 6]
        self.assertEqual(self.rejects("wrong_claim", "shape of its result is [2, 6, 6]").line, 12)

    def test_about_which_tensor_was_written(self):
        step = self.step("aten::add_.Tensor")
        step["results"] = [{"t": self.p["inputs"][0]["t"]}]
        self.rejects("wrong_claim", "its result is not tensor 0")

    def test_about_which_of_two_views_was_written(self):
        first, second = (r["t"] for r in self.step("aten::split.Tensor")["results"][0])
        self.p["forward"].append({"op": "aten::zero_", "args": [{"t": first}], "kwargs": {}, "results": [{"t": second}], "line": 3})
        self.rejects("wrong_claim", f"not tensor {second}")

    def test_about_the_number_of_results(self):
        self.step("aten::split.Tensor")["results"][0].pop()
        self.rejects("wrong_claim", "list of 2 tensors")
        self.p = copy.deepcopy(self.own)
        self.step("aten::conv2d")["results"].append({"t": len(self.p["tensors"]) - 1})
        self.rejects("wrong_claim", "returns 1 values")
        self.p = copy.deepcopy(self.own)
        self.step("aten::conv2d")["results"] = [None]
        self.rejects("wrong_claim", "undefined")

    def test_about_ids(self):
        self.step("aten::conv2d")["args"][0] = {"t": 10 ** 6}
        self.rejects("unknown_tensor", "before it is made")
        self.p = copy.deepcopy(self.own)
        self.p["forward"].insert(0, self.p["forward"].pop(1))  # the split before its convolution
        self.rejects("unknown_tensor")
        for bad in (-1, 10 ** 6, "0", None, 1.0, True):
            self.p = copy.deepcopy(self.own)
            self.step("aten::conv2d")["results"] = [{"t": bad}]
            with self.assertRaises(Rejected, msg=repr(bad)):
                infer(self.p, self.facts)
        self.p = copy.deepcopy(self.own)
        self.p["outputs"] = {"tuple": [{"t": 10 ** 6}]}
        self.rejects("unknown_tensor")
        self.p = copy.deepcopy(self.own)
        next(s for s in self.p["forward"] if "launch" in s)["args"].append({"array": [{"t": 10 ** 6}]})
        self.rejects("unknown_tensor")

    def test_about_inputs_and_the_model(self):
        self.p["inputs"].append(1)
        self.rejects("wrong_inputs", "the plan has 3 inputs")
        for value in (3, 2.0, None, {"t": 0}):
            self.p["inputs"] = [{"t": 0}, value]
            self.rejects("wrong_inputs")
        self.p["inputs"] = [7, 2]
        self.rejects("wrong_inputs", "an input tensor is missing")
        for kind, change in (("parameters", lambda l: l.pop()), ("parameters", lambda l: l.reverse()), ("buffers", lambda l: l[0].__setitem__(0, "bn.other")),
                             ("state", lambda l: l.clear())):
            self.p = copy.deepcopy(self.own)
            change(self.p[kind])
            self.rejects("wrong_model", kind)
        facts = copy.deepcopy(self.facts)
        facts["parameters"][0][1]["shape"] = [4, 3, 3, 4]
        self.p = copy.deepcopy(self.own)
        self.rejects("wrong_claim", "parameters conv.weight", facts)


class Rules(InferTest):
    def test_only_listed_operators(self):
        for op in ("aten::set_.source_Tensor", "aten::resize_", "aten::rand", "aten::nonzero", "aten::_local_scalar_dense", "prims::mul", "aten::no_such", "os::system",
                   "aten::conv2d.no_such", "aten::__class__", "::", "", "profiler::_record_function_enter"):
            self.p = copy.deepcopy(self.own)
            self.add(op, [{"t": 0}])
            self.assertEqual(self.rejects("operator_not_allowed").line, 77)

    def test_no_random_numbers(self):
        self.add("aten::scaled_dot_product_attention", [{"t": 0}, {"t": 0}, {"t": 0}, None, 0.5])
        self.rejects("random")
        self.p = copy.deepcopy(self.whole)
        self.step("aten::lstm.input")["args"][5] = 0.5
        with self.assertRaises(Rejected):
            infer(self.p, self.facts)

    def test_each_argument_is_given_once_and_by_its_name(self):
        """Or what checks a call would read another value than what runs it."""
        for kwargs in ({"dropout": 0.9}, {"dropout": 0.9, "train": True}, {"batch_first": True}, {"no_such": 1}):
            self.p = copy.deepcopy(self.whole)
            self.step("aten::lstm.input")["kwargs"] = kwargs
            self.rejects("operator_error", "aten::lstm.input")
        self.p = copy.deepcopy(self.own)
        self.step("aten::conv2d")["kwargs"] = {"bias": None}
        self.rejects("operator_error", "given twice")

    def test_every_tensor_is_on_the_gpu(self):
        fact = {"shape": [4], "stride": [1]}
        for args, kwargs in (([[4]], {}), ([[4]], {"device": None}), ([[4]], {"device": "cpu"}), ([[4]], {"device": "meta"}), ([[4]], {"device": "cuda"}),
                             ([[4]], {"device": {"device": "cuda"}, "pin_memory": True})):
            self.p = copy.deepcopy(self.own)
            self.add("aten::empty.memory_format", args, **fact)
            self.p["forward"][-1]["kwargs"] = kwargs
            self.rejects("cpu_tensor")
        self.p = copy.deepcopy(self.own)
        self.add("aten::empty.memory_format", [[4]], **fact)
        self.p["forward"][-1]["kwargs"] = {"device": {"device": "cuda"}, "pin_memory": False}
        infer(self.p, self.facts)

    def test_prepare_sees_no_input(self):
        self.add("aten::relu", [{"t": 0}], phase="prepare", shape=[2, 3, 8, 8], stride=[192, 64, 8, 1])
        self.rejects("unknown_tensor")
        self.p = copy.deepcopy(self.own)
        self.p["prepare"].append({**next(s for s in self.p["forward"] if "launch" in s), "args": [{"t": 0}]})
        self.rejects("unknown_tensor")

    def test_prepare_does_not_write_the_models_state(self):
        running = dict(self.p["buffers"])["bn.running_mean"]
        self.p["prepare"].append({"op": "aten::zero_", "args": [{"t": running}], "kwargs": {}, "results": [{"t": running}], "line": 3})
        self.rejects("prepare_writes", "prepare")
        self.p = copy.deepcopy(self.own)
        last = dict(self.p["state"])["last"]
        self.p["prepare"].append({"op": "aten::zero_", "args": [{"t": last}], "kwargs": {}, "results": [{"t": last}], "line": 3})
        self.rejects("prepare_writes", "prepare")

    def test_parameters_and_constants_are_not_written(self):
        for i in (dict(self.p["parameters"])["bn.bias"], self.p["constants"][0]["t"]):
            for phase in ("prepare", "forward"):
                self.p = copy.deepcopy(self.own)
                self.p[phase].append({"op": "aten::zero_", "args": [{"t": i}], "kwargs": {}, "results": [{"t": i}], "line": 3})
                self.rejects("writes_parameter")
        self.p = copy.deepcopy(self.own)
        weight = dict(self.p["parameters"])["conv.weight"]
        view = self.add("aten::view", [{"t": weight}, [108]], shape=[108], storage=weight)
        self.p["forward"].append({"op": "aten::zero_", "args": [{"t": view}], "kwargs": {}, "results": [{"t": view}], "line": 3})
        self.rejects("writes_parameter")
        self.p = copy.deepcopy(self.own)  # by keyword
        self.p["forward"].append({"op": "aten::zero_", "args": [], "kwargs": {"self": {"t": weight}}, "results": [{"t": weight}], "line": 3})
        self.rejects("writes_parameter")

    def test_batch_norm_may_not_update_a_parameter(self):
        """Its schema marks no write, yet it updates the running statistics."""
        self.p = copy.deepcopy(self.whole)
        step = self.step("aten::batch_norm")
        step["args"][3] = step["args"][1]
        self.rejects("writes_parameter", "batch_norm")
        step["args"][5] = False  # not in training: only read
        infer(self.p, self.facts)
        self.refused(HEAD + "class ModelNew(Model):\n    def forward(self, x, k):\n        y = self.conv(x)\n"
                     "        return F.batch_norm(y, self.conv.bias, self.bn.running_var, training=True)\n", "writes_parameter", "the parameter conv.bias", 7)

    def test_what_prepare_made_stays(self):
        made = self.p["prepare"][-1]["results"][0]["t"]
        self.p["forward"].append({"op": "aten::zero_", "args": [{"t": made}], "kwargs": {}, "results": [{"t": made}], "line": 3})
        self.rejects("writes_prepared")

    def test_views_stay_within_their_storage(self):
        for shape, stride, offset in (([1000000], [1], 0), ([2], [1], 383), ([2], [1], 10 ** 9), ([2], [384], 0)):
            self.p = copy.deepcopy(self.own)
            self.add("aten::as_strided", [{"t": 0}, shape, stride, offset], shape=shape, stride=stride, offset=offset, storage=0)
            with self.assertRaises(Rejected, msg=f"{shape} {stride} {offset}") as caught:
                infer(self.p, self.facts)
            self.assertIn(caught.exception.kind, ("outside_storage", "operator_error"), caught.exception)
        self.p = copy.deepcopy(self.own)
        self.add("aten::as_strided", [{"t": 0}, [2], [1], 382], shape=[2], stride=[1], offset=382, storage=0)
        infer(self.p, self.facts)
        self.p = copy.deepcopy(self.own)
        self.add("aten::as_strided", [{"t": 0}, [2, 0], [1, 9999], 384], shape=[2, 0], stride=[1, 9999], offset=384, storage=0)
        infer(self.p, self.facts)  # nothing in it

    def test_arguments_that_an_operator_refuses(self):
        for args in ([], [{"t": 0}], [3, 4, 5], ["x"] * 3, [[[[[]]]]], [{"t": 0}, {"t": 0}, {"t": 0}, {"float": "inf"}]):
            self.p = copy.deepcopy(self.own)
            self.step("aten::conv2d")["args"] = args
            with self.assertRaises(Rejected):
                infer(self.p, self.facts)
        self.p = copy.deepcopy(self.own)
        self.step("aten::conv2d")["kwargs"] = {"no": 1}
        self.rejects("operator_error", "aten::conv2d")


class Hostile(InferTest):
    """Mutated plans of the right outer structure (the C++ parser lets no other through, and some of these neither)."""
    MUTATIONS = 150

    def test_mutations_pass_or_are_rejected(self):
        chance = random.Random(7)
        passed = 0
        for _ in range(self.MUTATIONS):
            plan = copy.deepcopy(chance.choice((self.own, self.whole)))
            for _ in range(chance.randint(1, 3)):
                mutate(plan, chance)
            try:
                infer(plan, self.facts)
                passed += 1
            except Rejected as rejected:
                self.assertTrue(rejected.kind and rejected.message)
        self.assertGreater(passed, 0)


def places(value, found: list) -> list:
    """Every (container, key) in a JSON tree."""
    for key, child in value.items() if isinstance(value, dict) else enumerate(value):
        found.append((value, key))
        if isinstance(child, (dict, list)):
            places(child, found)
    return found


def mutate(plan: dict, chance: random.Random) -> None:
    found = places({k: plan[k] for k in chance.sample(sorted(plan), 4) if isinstance(plan[k], (list, dict))}, [])
    found = [(c, k) for c, k in found if c and not (isinstance(k, str) and k in plan)]
    if not found:
        return
    container, key = chance.choice(found)
    kind = chance.randrange(5)
    if kind == 0:
        container[key] = chance.choice([None, True, -1, 0, 1, 3, 1 << 40, -(1 << 62), 1 << 80, 1e308, "x", "float32", "aten::as_strided", "aten::set_", [], {}, {"t": 0},
                                        {"t": -1}, {"float": "nan"}, {"dtype": "bool"}, {"device": "cpu"}, {"memory_format": "channels_last"}, [[]], [0] * 70])
    elif kind == 1 and isinstance(container[key], int):
        container[key] += chance.choice([-1, 1, 2, 1 << 31])
    elif kind == 2 and isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))
    elif kind == 3:
        del container[key]
    else:
        other, where = chance.choice(found)
        container[key] = copy.deepcopy(other[where]) if where in range(len(other)) or isinstance(other, dict) and where in other else 0


if __name__ == "__main__":
    unittest.main()
