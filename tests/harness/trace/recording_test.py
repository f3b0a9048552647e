"""What the tracer records: plans of small models and programs, field by field (docs/plan.md)."""

import json
import os
import unittest

from tracer_process import DEVICE, HEAD, TracerProcess, TracerTest, forward

TASK = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nclass Model(nn.Module):\n"


def ops(plan: dict, phase: str = "forward") -> list[str]:
    return [s.get("op", s.get("launch")) for s in plan[phase]]


class References(TracerTest):
    def test_convolution_and_batch_norm_stay_whole(self):
        plan = self.reference(self.TASK)
        self.assertEqual(sorted(plan), ["buffers", "constants", "forward", "inputs", "options", "outputs", "parameters", "prepare", "state", "tags",
                                        "tensors", "version"])
        self.assertEqual(plan["version"], 1)
        self.assertEqual(plan["options"], {"graph": True, "tf32": False})
        self.assertEqual(plan["inputs"], [{"t": 0}])
        self.assertEqual(plan["parameters"], [["conv.weight", 1], ["conv.bias", 2], ["bn.weight", 3], ["bn.bias", 4]])
        self.assertEqual(plan["buffers"], [["bn.running_mean", 5], ["bn.running_var", 6], ["bn.num_batches_tracked", 7]])
        self.assertEqual([plan["state"], plan["constants"], plan["prepare"], plan["tags"]], [[], [], [], []])
        conv, count, norm = plan["forward"]
        self.assertEqual(conv, {"op": "aten::conv2d", "args": [{"t": 0}, {"t": 1}, {"t": 2}], "kwargs": {}, "results": [{"t": 8}], "line": None})
        self.assertEqual((count["op"], count["args"], count["results"]), ("aten::add_.Tensor", [{"t": 7}, 1], [{"t": 7}]))
        self.assertEqual((norm["op"], norm["results"]), ("aten::batch_norm", [{"t": 9}]))
        # input, weight, bias, running mean and variance, training, momentum, epsilon, cudnn
        self.assertEqual(norm["args"], [{"t": 8}, {"t": 3}, {"t": 4}, {"t": 5}, {"t": 6}, True, 0.1, 1e-05, True])
        self.assertEqual(plan["outputs"], {"t": 9})
        self.assertEqual(plan["tensors"][0], {"shape": [2, 3, 8, 8], "stride": [192, 64, 8, 1], "offset": 0, "dtype": "float32", "storage": 0})
        self.assertEqual(plan["tensors"][7], {"shape": [], "stride": [], "offset": 0, "dtype": "int64", "storage": 7})
        self.assertEqual(plan["tensors"][9]["shape"], [2, 4, 6, 6])

    def test_the_task_is_described(self):
        reply = self.load(self.TASK)
        self.assertEqual(reply["inputs"], [{"shape": [2, 3, 8, 8], "dtype": "float32"}])
        self.assertEqual((reply["parameters"], reply["parameter_count"]), (4, 4 * 27 + 4 + 4 + 4))

    def test_a_recurrent_network_stays_whole(self):
        plan = self.reference(TASK + """
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(5, 6, num_layers=2, batch_first=True, bidirectional=True)
    def forward(self, x, h, c):
        out, (h, c) = self.lstm(x, (h, c))
        return out[:, -1], h
def get_inputs(): return [torch.rand(3, 7, 5), torch.rand(4, 3, 6), torch.rand(4, 3, 6)]
def get_init_inputs(): return []
""")
        lstm = next(s for s in plan["forward"] if s["op"] == "aten::lstm.input")
        self.assertEqual(len(lstm["args"][2]), 2 * 2 * 4)  # two layers, two directions, four tensors each
        self.assertEqual(lstm["args"][3:], [True, 2, 0.0, True, True, True])
        out, h, c = (plan["tensors"][r["t"]] for r in lstm["results"])
        self.assertEqual((out["shape"], out["stride"]), ([3, 7, 12], [12, 36, 1]))  # laid out time first
        self.assertEqual([h["shape"], c["shape"]], [[4, 3, 6], [4, 3, 6]])
        self.assertEqual(plan["outputs"]["tuple"][1], lstm["results"][1])
        last = plan["tensors"][plan["outputs"]["tuple"][0]["t"]]
        self.assertEqual((last["shape"], last["storage"], last["offset"]), ([3, 12], lstm["results"][0]["t"], 6 * 36))

    def test_attention_stays_whole(self):
        plan = self.reference(TASK + """
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2)
    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)[0]
def get_inputs(): return [torch.rand(5, 3, 8)]
def get_init_inputs(): return []
""")
        self.assertEqual(ops(plan).count("aten::scaled_dot_product_attention"), 1)
        self.assertFalse([o for o in ops(plan) if "softmax" in o or "bmm" in o])
        self.assertEqual(plan["tensors"][plan["outputs"]["t"]]["shape"], [5, 3, 8])

    def test_plain_attributes_are_state(self):
        plan = self.reference(TASK + """
    def __init__(self):
        super().__init__()
        self.hidden = torch.zeros(2, 3)
        self.inner = nn.Module()
        self.inner.seen = torch.zeros(2, 3, dtype=torch.float16)
    def forward(self, x):
        self.hidden = torch.tanh(x + self.hidden)
        return self.hidden
def get_inputs(): return [torch.rand(2, 3)]
def get_init_inputs(): return []
""")
        self.assertEqual(plan["state"], [["hidden", 1], ["inner.seen", 2]])
        self.assertEqual(plan["tensors"][2]["dtype"], "float16")
        self.assertEqual(ops(plan), ["aten::add.Tensor", "aten::tanh", "aten::copy_"])  # bound anew: copied back
        self.assertEqual((plan["forward"][2]["args"][0], plan["forward"][2]["results"]), ({"t": 1}, [{"t": 1}]))
        self.assertEqual(plan["outputs"], plan["forward"][1]["results"][0])

    def test_dropout_of_nothing_and_inputs_that_are_numbers(self):
        plan = self.reference(TASK + """
    def forward(self, x, k):
        return F.dropout(x, 0.0) * k
def get_inputs(): return [torch.rand(2), 3]
def get_init_inputs(): return []
""")
        self.assertEqual(plan["inputs"], [{"t": 0}, 3])
        self.assertEqual([(s["op"], s["args"]) for s in plan["forward"]], [("aten::mul.Tensor", [{"t": 0}, 3])])

    def test_shared_parameters_are_named_once(self):
        plan = self.reference(TASK + """
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3, bias=False)
        self.b = self.a
    def forward(self, x): return self.b(self.a(x))
def get_inputs(): return [torch.rand(2, 3)]
def get_init_inputs(): return []
""")
        self.assertEqual(plan["parameters"], [["a.weight", 1]])
        self.assertEqual([s["args"][1] for s in plan["forward"]], [{"t": 1}, {"t": 1}])


class Programs(TracerTest):
    def test_views_name_the_root_of_their_storage(self):
        plan = self.plan(forward("y = x * 2\na = y.permute(0, 2, 3, 1)\nb = a[1]\nb.add_(1)\nreturn b.reshape(-1), y"))
        self.assertEqual(ops(plan), ["aten::mul.Tensor", "aten::permute", "aten::select.int", "aten::add_.Tensor", "aten::reshape"])
        y, a, b = (s["results"][0]["t"] for s in plan["forward"][:3])
        table = plan["tensors"]
        self.assertEqual([table[i]["storage"] for i in (y, a, b)], [y, y, y])
        self.assertEqual((table[b]["shape"], table[b]["stride"], table[b]["offset"]), ([8, 8, 3], [8, 1, 64], 192))
        self.assertEqual(plan["forward"][3]["results"], [{"t": b}])  # in place: the very id
        flat = plan["forward"][4]["results"][0]["t"]
        self.assertEqual(table[flat]["storage"], flat)  # this reshape copies
        self.assertEqual([s["line"] for s in plan["forward"]], [6, 7, 8, 9, 10])

    def test_what_gives_back_its_argument_is_no_step(self):
        self.assertEqual(ops(self.plan(forward("return torch.relu(x.contiguous().float().to(x.device))"))), ["aten::relu"])

    def test_lists_of_tensors_and_several_results(self):
        plan = self.plan(forward("a, b, c = x.chunk(3, dim=1)\nv, i = torch.max(a, dim=1)\nreturn [torch.cat([a, b]), {'v': v, 'n': None, 'k': 2}, (i,)]"))
        parts, top, cat = plan["forward"]
        self.assertEqual(len(parts["results"]), 1)
        self.assertEqual(len(parts["results"][0]), 3)
        self.assertEqual([r["t"] for r in top["results"]], [plan["outputs"]["list"][1]["dict"][0][1]["t"], plan["outputs"]["list"][2]["tuple"][0]["t"]])
        self.assertEqual(plan["tensors"][top["results"][1]["t"]]["dtype"], "int64")
        self.assertEqual(cat["args"][0], parts["results"][0][:2])
        self.assertEqual(plan["outputs"]["list"][1]["dict"][1:], [["n", {"value": None}], ["k", {"value": 2}]])

    def test_factories_without_a_tensor_are_steps(self):
        plan = self.plan(forward("z = torch.zeros(2, 3, dtype=torch.bfloat16, device='cuda')\nr = torch.arange(3, device=x.device)\nf = torch.full((2,), float('-inf'), device=x.device)\nreturn z, r, f"))
        made = [s for s in plan["forward"] if s["op"] != "aten::detach"]  # torch detaches what a factory makes
        self.assertEqual([s["op"] for s in made], ["aten::zeros", "aten::arange", "aten::full"])
        self.assertEqual(made[0]["kwargs"]["dtype"], {"dtype": "bfloat16"})
        self.assertEqual(made[0]["kwargs"]["device"], {"device": "cuda"})
        self.assertEqual(made[2]["args"][1], {"float": "-inf"})
        self.assertEqual([plan["tensors"][s["results"][0]["t"]]["dtype"] for s in made], ["bfloat16", "int64", "float32"])

    def test_a_launch_with_every_kind_of_argument(self):
        plan = self.plan(forward("""y = torch.empty_like(x)
kg.launch("gemm<128, 4>", grid=(2, 3, 4), block=64, shared=8, cluster=(2, 1), cooperative=True, args=[
    x, None, True, 7, 2.5, float("inf"), kg.strided(x[:, :, ::2]), kg.array([y, 1, 1.5, kg.int64(1 << 40)])])
kg.launch("plain", grid=1, block=(32,), args=(y,))
return y"""))
        view, full, plain = plan["forward"][-3:]
        self.assertEqual(full, {"launch": "gemm<128, 4>", "grid": [2, 3, 4], "block": [64, 1, 1], "shared": 8, "cluster": [2, 1, 1], "cooperative": True, "args": [
            {"t": 0}, None, True, 7, 2.5, {"float": "inf"}, {"t": view["results"][0]["t"], "strided": True},
            {"array": [plan["outputs"], 1, 1.5, {"i64": 1 << 40}]}], "line": full["line"]})
        self.assertEqual((view["line"], full["line"]), (8, 7))
        self.assertEqual(plain, {"launch": "plain", "grid": [1, 1, 1], "block": [32, 1, 1], "shared": 0, "cluster": None, "cooperative": False,
                                 "args": [plan["outputs"]], "line": 9})
        reply = self.trace(forward("for k in ('b', 'a', 'b'): kg.launch(k, grid=1, block=1, args=[x])\nreturn x"))
        self.assertEqual(reply["kernels"], ["b", "a"])
        self.assertGreater(reply["elapsed_s"], 0)

    def test_prepare_is_apart_from_forward(self):
        plan = self.plan(HEAD + """class ModelNew(Model):
    def prepare(self):
        self.w = self.conv.weight.permute(1, 2, 3, 0).contiguous()
        kg.launch("pack", grid=1, block=32, args=[self.w])
    def forward(self, x):
        kg.launch("conv", grid=1, block=32, args=[x, self.w])
        return x
""")
        self.assertEqual(ops(plan, "prepare"), ["aten::permute", "aten::contiguous", "pack"])
        self.assertEqual(ops(plan), ["conv"])
        self.assertEqual(plan["forward"][0]["args"][1], plan["prepare"][1]["results"][0])
        self.assertEqual(plan["state"], [])  # what prepare makes is no state of the reference
        self.assertEqual([plan["prepare"][0]["line"], plan["forward"][0]["line"]], [6, 9])

    def test_constants_are_little_endian_bytes(self):
        plan = self.plan(forward("a = torch.tensor([1.0, -2.0], device=x.device)\nb = kg.constant([[1], [2]], dtype=torch.int32)\nc = kg.constant(True, dtype=torch.bool)\nd = kg.constant([1.0], dtype=torch.bfloat16)\nreturn a, b, c, d"))
        self.assertEqual([c["data"] for c in plan["constants"]], ["AACAPwAAAMA=", "AQAAAAIAAAA=", "AQ==", "gD8="])
        self.assertEqual([(plan["tensors"][c["t"]]["dtype"], plan["tensors"][c["t"]]["shape"]) for c in plan["constants"]],
                         [("float32", [2]), ("int32", [2, 1]), ("bool", []), ("bfloat16", [1])])

    def test_options_and_tags(self):
        plan = self.plan(forward("kg.options(tf32=True)\nkg.options(graph=False)\nreturn kg.tag('input', x)"))
        self.assertEqual((plan["options"], plan["tags"]), ({"graph": False, "tf32": True}, [["input", 0]]))

    def test_device_facts_are_there(self):
        self.assertEqual(self.plan(forward("kg.launch('k', grid=kg.device.sm_count, block=1, args=[x])\nreturn x"))["forward"][0]["grid"], [132, 1, 1])

    def test_the_same_program_gives_the_same_bytes(self):
        program = forward("names = {'a', 'b', 'c', 'd'}\nfor n in names: kg.tag(n, x)\nreturn torch.einsum('bchw,bdhw->bcd', x, torch.ones_like(x)), self.bn(self.conv(x))")
        first = self.trace(program)["plan"]
        self.trace(forward("return x"))  # another program between them leaves nothing behind
        self.assertEqual(self.trace(program)["plan"], first)
        other = TracerProcess(environment={"PYTHONHASHSEED": "5"})
        other.ask("task", file=os.path.join(self.folder.name, "task.py"))
        self.assertEqual(other.ask("trace", program=program, device=DEVICE)["plan"], first)
        other.close()

    def test_programs_do_not_change_one_another(self):
        self.plan(HEAD + "class ModelNew(Model):\n    def prepare(self): self.left = self.conv.weight + 1\n    def forward(self, x): return x\ntorch.relu = None\n")
        self.assertEqual(ops(self.plan(forward("assert not hasattr(self, 'left')\nreturn torch.relu(x)"))), ["aten::relu"])


if __name__ == "__main__":
    unittest.main()
