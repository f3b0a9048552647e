"""The tracer: what it records, what it refuses and in which words, and what a host program cannot do."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
MODEL = """
import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.bn = nn.BatchNorm2d(4)
    def forward(self, x):
        return self.bn(self.conv(x))
def get_inputs(): return [torch.rand(2, 3, 8, 8)]
def get_init_inputs(): return []
"""
HEAD = "import torch\nimport kagent as kg\nclass ModelNew(Model):\n"
FORWARD = HEAD + "    def forward(self, x):\n        "


class Tracer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        task = os.path.join(cls.folder.name, "task.py")
        with open(task, "w", encoding="utf-8") as f:
            f.write(MODEL)
        cls.secret = os.path.join(cls.folder.name, "secret.txt")
        with open(cls.secret, "w", encoding="utf-8") as f:
            f.write("SECRET-CANARY")
        cls.process = subprocess.Popen([sys.executable, "-B", os.path.join(ROOT, "harness", "trace.py"), "--seal", os.environ["KAGENT_SEAL_LIB"]],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                       env={"PATH": os.environ["PATH"], "SECRET": "ENV-CANARY"})
        hello = cls.ask(cmd="hello")
        if not hello["ok"]:
            raise unittest.SkipTest(hello["error"]["message"])
        assert cls.ask(cmd="task", file=task)["ok"]

    @classmethod
    def tearDownClass(cls):
        cls.process.stdin.close()
        cls.process.wait()
        cls.process.stdout.close()
        cls.folder.cleanup()

    @classmethod
    def ask(cls, **request) -> dict:
        cls.process.stdin.write(json.dumps(request) + "\n")
        cls.process.stdin.flush()
        return json.loads(cls.process.stdout.readline())

    def trace(self, program: str, **more) -> dict:
        return self.ask(cmd="trace", program=program, device={"sm_count": 132}, **more)

    def plan(self, program: str) -> dict:
        reply = self.trace(program)
        self.assertTrue(reply["ok"], reply)
        return json.loads(reply["plan"])

    def refused(self, program: str, kind: str, line: int | None = None, **more) -> dict:
        reply = self.trace(program, **more)
        self.assertFalse(reply["ok"], program)
        self.assertEqual(reply["error"]["kind"], kind, reply)
        if line is not None:
            self.assertEqual(reply["error"]["line"], line, reply)
        return reply["error"]

    def test_a_task_says_whether_it_returns_what_it_was_given(self):
        own = os.path.join(self.folder.name, "task.py")
        self.addCleanup(self.ask, cmd="task", file=own)
        self.assertFalse(self.ask(cmd="task", file=own)["returns_sources"])
        for returned, sources in (("x * 2, x", True), ("x.mul_(2)", True), ("x.mul_(2) + 1", False), ("[x + 1, self.h.view(2, 4)]", True), ("{'y': x + self.h}", False), ("(x + 1)[2:]", False)):
            with open(os.path.join(self.folder.name, "other.py"), "w", encoding="utf-8") as file:
                file.write("import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                           "        self.register_buffer('h', torch.zeros(8))\n    def forward(self, x):\n"
                           f"        return {returned}\ndef get_inputs(): return [torch.rand(8)]\ndef get_init_inputs(): return []\n")
            self.assertEqual(self.ask(cmd="task", file=file.name)["returns_sources"], sources, returned)

    def test_a_program_may_use_the_library_where_its_task_does_not(self):
        own = os.path.join(self.folder.name, "task.py")
        self.addCleanup(self.ask, cmd="task", file=own)
        with open(os.path.join(self.folder.name, "plain.py"), "w", encoding="utf-8") as file:
            file.write("import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\n"
                       "def get_inputs(): return [torch.rand(1, 2, 8, 8)]\ndef get_init_inputs(): return []\n")
        self.assertTrue(self.ask(cmd="task", file=file.name)["ok"])
        for call in ("F.conv2d(x, x[:, :, :2, :2])", "F.scaled_dot_product_attention(x, x, x, is_causal=True)"):
            self.assertIn(call[2:call.index("(")], self.plan(FORWARD + f"return {call}\n")["forward"][-1]["op"])

    def test_operators_stay_whole(self):
        plan = json.loads(self.ask(cmd="trace_reference", device={})["plan"])
        self.assertEqual([s["op"] for s in plan["forward"]], ["aten::conv2d", "aten::add_.Tensor", "aten::batch_norm"])
        self.assertEqual([n for n, _ in plan["buffers"]], ["bn.running_mean", "bn.running_var", "bn.num_batches_tracked"])
        counter = dict(plan["buffers"])["bn.num_batches_tracked"]
        self.assertEqual(plan["forward"][1]["results"], [{"t": counter}])

    def test_launches_and_values(self):
        plan = self.plan(HEAD + """    def prepare(self):
        self.w = self.conv.weight.permute(1, 2, 3, 0).contiguous()
    def forward(self, x):
        y = torch.empty_like(x)
        kg.options(tf32=True)
        kg.launch("k<3>", grid=(2, 3), block=64, shared=8, cluster=2, cooperative=True,
                  args=[x, self.w, None, 1, 2.5, True, kg.strided(x[:, :, ::2]), kg.array([y, 7, kg.int64(8)]), kg.constant([1.0, 2.0])])
        return (y, {"a": y})
""")
        launch = plan["forward"][-1]
        self.assertEqual([launch[k] for k in ("launch", "grid", "block", "cluster", "shared", "cooperative", "line")], ["k<3>", [2, 3, 1], [64, 1, 1], [2, 1, 1], 8, True, 9])
        self.assertEqual(launch["args"][2:6], [None, 1, 2.5, True])
        self.assertTrue(launch["args"][6]["strided"])
        self.assertEqual(launch["args"][7]["array"][1:], [7, {"i64": 8}])
        self.assertEqual(plan["constants"][0]["data"], "AACAPwAAAEA=")
        self.assertEqual([s["op"] for s in plan["prepare"]], ["aten::permute", "aten::contiguous"])
        self.assertEqual(plan["options"], {"graph": True, "tf32": True})
        view = plan["tensors"][launch["args"][6]["t"]]
        self.assertEqual(view["storage"], plan["inputs"][0]["t"])

    def test_the_same_program_gives_the_same_bytes(self):
        program = FORWARD + "y = torch.zeros(4, device=x.device)\n        return x + y.sum()\n"
        self.assertEqual(self.trace(program)["plan"], self.trace(program)["plan"])

    def test_errors_say_what_and_where(self):
        for statement, kind in (("return x.sum().item()", "data_dependent"), ("return x if x.sum() > 0 else -x", "data_dependent"), ("return x[x > 0]", "dynamic_shape"),
                                ("return x.cpu()", "host_transfer"), ("return x.numpy()", "host_transfer"), ("return torch.zeros(3)", "cpu_tensor"),
                                ("return x + torch.rand_like(x)", "random"), ("return torch.dropout(x, 0.5, True)", "random"), ("self.conv.weight.add_(1)", "writes_parameter"),
                                ("kg.launch('k', grid=0, block=1)", "wrong_kg_call"), ("kg.lunch()", "wrong_kg_call"), ("return torch.linalg.inv(x[0, 0])", "operator_not_allowed"),
                                ("return self.missing", "exception"), ("return 'text'", "wrong_output")):
            error = self.refused(FORWARD + statement + "\n", kind, None if kind == "wrong_output" else 5)
            self.assertEqual(error["message"], " ".join(error["message"].split("\n")))
        self.refused(HEAD + "    def __init__(self): pass\n    def forward(self, x): return x\n", "own_init")
        self.refused("class Other: pass\n", "no_model")
        self.refused("class ModelNew: \n    def forward(self, x): return x\n", "no_model")
        self.refused("def broken(:\n", "syntax_error", 1)
        self.refused(FORWARD + "for i in range(300): x = x + 1\n        return x\n", "too_many_steps", 5, max_steps=200)
        self.refused(FORWARD + "while True: pass\n", "deadline", 5, seconds=1)

    def test_a_host_program_cannot_reach_out(self):
        target = os.path.join(self.folder.name, "written")
        for statement in (f"open({target!r}, 'w')", f"open({self.secret!r}).read()", "open('/etc/passwd').read()", "__import__('socket').socket()", "__import__('os').fork()",
                          "__import__('os').execv('/bin/true', ['true'])", "__import__('subprocess').run(['true'])", "__import__('os').kill(__import__('os').getppid(), 9)",
                          "__import__('os').unlink(%r)" % self.secret):
            self.refused(FORWARD + statement + "\n", "forbidden", 5)
        self.trace(FORWARD + f"__import__('os').system('touch {target}')\n        return x\n")
        self.assertFalse(os.path.exists(target))
        self.assertTrue(os.path.exists(self.secret))

    def test_a_child_finds_neither_secrets_nor_earlier_answers(self):
        self.trace(FORWARD + "marker = 'EARLIER-' + 'CANARY'\n        return x\n")
        probe = FORWARD + """import gc, os, sys
        word = "CAN" + "ARY"
        found = []
        for o in gc.get_objects():
            if type(o) is dict:
                found += [s for s in list(o.values()) if type(s) is str and len(s) < 5000 and word in s]
        frame = sys._getframe()
        while frame is not None:
            found += [s for s in list(frame.f_locals.values()) if type(s) is str and "EARLIER-" + word in s]
            frame = frame.f_back
        raise ValueError(f"{'SECRET' in os.environ} {[s[:40] for s in found if 'EARLIER-' + word in s or 'ENV-' + word in s]}")
"""
        self.assertEqual(self.refused(probe, "exception")["message"], "ValueError: False []")

    def test_what_a_child_writes_elsewhere_does_not_count(self):
        reply = self.trace(FORWARD + "import os\n        [os.write(fd, b'{\"ok\": true, \"plan\": 1}\\n') for fd in (0, 1, 2)]\n        return x\n")
        self.assertTrue(reply["ok"])
        self.assertNotEqual(reply["plan"], 1)
        self.refused(FORWARD + "import os\n        while True: os.write(3, b'x' * 1000000)\n", "plan_too_large")
        self.refused(FORWARD + "import os\n        os._exit(0)\n", "crashed")
        self.assertTrue(self.trace(FORWARD + "return x\n")["ok"])  # the parent lives on


if __name__ == "__main__":
    unittest.main()
