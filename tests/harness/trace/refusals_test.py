"""What the tracer refuses: each with its kind, words that help, and the answer's own line."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

from tracer_process import HEAD, ROOT, TracerProcess, TracerTest, forward

PREPARE = HEAD + "class ModelNew(Model):\n    def forward(self, x): return x\n    def prepare(self):\n        "  # its body is on line 7


class Refusals(TracerTest):
    def test_decisions_on_data(self):
        for body in ("return x.sum().item()", "return x if x.sum() > 0 else -x", "return int(x.sum())", "return x.tolist()",
                     "assert torch.equal(x, x)", "return float(x.max()) * x"):
            self.refused(forward(body), "data_dependent", "has no data", 6)
        self.refused(forward("y = x + 1\n\nwhile (y > 0).all():\n    y = y - 1\nreturn y"), "data_dependent", "if on a tensor", 8)

    def test_shapes_that_depend_on_data(self):
        for body in ("return x[x > 0]", "return x.nonzero()", "return torch.unique(x)", "return torch.masked_select(x, x > 0)"):
            self.refused(forward(body), "dynamic_shape", "torch.where", 6)

    def test_transfers_to_the_host(self):
        self.refused(forward("return x.cpu()"), "host_transfer", "cannot leave the GPU", 6)
        self.refused(forward("return x.to('cpu')"), "host_transfer", "cannot leave the GPU", 6)
        self.refused(forward("return x.numpy()"), "host_transfer", "cannot leave the GPU", 6)

    def test_tensors_on_the_cpu(self):
        for body in ("return torch.zeros(3)", "return torch.arange(4)", "return x + torch.full((1,), 2.0)"):
            self.refused(forward(body), "cpu_tensor", "device=x.device", 6)

    def test_random_numbers(self):
        for body in ("return torch.rand(3, device=x.device)", "return torch.rand_like(x)", "return torch.dropout(x, 0.5, True)", "return F.dropout(x, 0.1)",
                     "return x.normal_()", "return torch.bernoulli(x)", "return torch.randperm(4, device=x.device)", "return torch.multinomial(x[0, 0].abs(), 1)",
                     "return F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)"):
            self.refused(forward(body), "random", "random numbers are not allowed", 6)

    def test_the_shape_of_the_program(self):
        def model(line: str, base: str = "Model") -> str:
            return f"class ModelNew({base}):\n    {line}\n    def forward(self, x): return x\n"
        self.refused(model("def __init__(self): pass"), "own_init", "prepare(self)")
        self.refused("x = 1\n", "no_model", "defines no class ModelNew")
        self.refused("ModelNew = 3\n", "no_model", "defines no class ModelNew")
        self.refused(model("", "object"), "no_model", "must inherit from Model")
        self.refused(model("", "nn.Module"), "no_model", "must inherit from Model")
        self.refused("class ModelNew(Model):\n    pass\n", "no_forward", "must define forward")
        self.refused("x = 1\ndef f(:\n", "syntax_error", "does not parse", 2)
        self.refused("class ModelNew(Model):\n\tdef f(self): pass\n        def g(self): pass\n", "syntax_error", "does not parse", 3)
        self.refused("x = '\0'\n", "syntax_error", "null bytes")
        self.refused("x = '\ud800'\n", "syntax_error", "does not parse")
        self.refused("x = 1\nraise ValueError('mine')\n", "exception", "ValueError: mine", 2)
        self.refused("import no_such_module\n", "forbidden", "may import torch, math and kagent, not no_such_module", 1)
        self.refused("def launch(x):\n    scale<<<1, 32>>>(x)\n", "syntax_error", "launch by kg.launch", 2)
        self.refused("open('/etc/passwd')\n", "forbidden", "a host program has no files, network or processes (", 1)

    def test_writes_to_what_is_read_only(self):
        self.refused(forward("self.conv.weight.add_(1)\nreturn x"), "writes_parameter", "the parameter conv.weight", 6)
        self.refused(forward("self.conv.weight.data[0].mul_(2)\nreturn x"), "writes_parameter", "the parameter conv.weight", 6)
        self.refused(forward("self.conv.weight.view(-1)[0] = 1\nreturn x"), "writes_parameter", "the parameter conv.weight", 6)
        self.refused(forward("c = kg.constant([1.0])\nc.zero_()\nreturn x"), "writes_parameter", "a constant", 7)
        self.refused(PREPARE + "self.bn.weight.zero_()\n", "writes_parameter", "the parameter bn.weight", 7)

    def test_wrong_uses_of_kg(self):
        for call, says in (("launch(7, grid=1, block=1)", "named by a string"), ("launch('k', block=1)", "give grid= and block="),
                           ("launch('k', grid=0, block=1)", "grid must be positive"), ("launch('k', grid=(1, 1, 1, 1), block=1)", "one to three ints"),
                           ("launch('k', grid=1.5, block=1)", "one to three ints"), ("launch('k', grid=True, block=1)", "one to three ints"),
                           ("launch('k', grid=1, block=(1, -1))", "block must be positive"),
                           ("launch('k', grid=1, block=1, args=x)", "args= is a list"), ("launch('k', grid=1, block=1, shared=-1)", "number of bytes"),
                           ("launch('k', grid=1, block=1, shared=True)", "number of bytes"),
                           ("launch('k', grid=1, block=1, cluster=0)", "cluster must be positive"), ("launch('k', grid=1, block=1, args=['text'])", "argument 1 is a str"),
                           ("launch('k', grid=1, block=1, args=[kg.array([object()])])", "argument 1 is a object"),
                           ("strided(3)", "takes a tensor"), ("int64('x')", "kg.int64"), ("array(3)", "kg.array"), ("tag('n', 3)", "kg.tag"),
                           ("lunch('k')", "kagent has no lunch; it has launch"), ("device.cores", "kg.device has no cores; it has arch"),
                           ("constant(object())", "kg.constant"), ("constant([1.0, [2.0]])", "kg.constant"), ("constant([1], dtype=int)", "kg.constant"),
                           ("constant([1 << 70], torch.int64)", "kg.constant"), ("int64(1 << 63)", "64 bits"), ("launch('k', grid=1, block=1, args=[1 << 63])", "does not fit 64 bits")):
            self.refused(forward(f"kg.{call}\nreturn x"), "wrong_kg_call", says, 6)
        self.refused("import kagent as kg\nkg.launch('k', grid=1, block=1)\n", "wrong_kg_call", "inside prepare and forward only", 2)

    def test_constants_have_a_size(self):
        self.refused(forward("return kg.constant([0.0] * (1 << 18) + [1.0])"), "constant_too_large", "1 MiB", 6)

    def test_operators_outside_the_list(self):
        self.refused(forward("return torch.linalg.inv(x[0, 0])"), "operator_not_allowed", "write it as a kernel", 6)
        self.refused(forward("y = torch.empty_like(x)\ntorch.mul(x, x, out=y)\nreturn y"), "operator_not_allowed", "aten::mul.out", 7)

    def test_tensors_from_elsewhere(self):
        top = HEAD + "TABLE = torch.ones(4, device='cuda')\nclass ModelNew(Model):\n    def forward(self, x):\n        return x * TABLE.sum()\n"
        self.refused(top, "unknown_tensor", "made outside prepare and forward", 7)
        real = HEAD + "TABLE = [1.0]\nclass ModelNew(Model):\n    table = torch.tensor(TABLE)\n    def forward(self, x):\n        return x * self.table\n"
        self.refused(real, "cpu_tensor", "device=x.device", 8)

    def test_prepare_sees_no_input(self):
        self.refused(PREPARE + "return missing\n", "exception", "NameError", 7)
        stolen = PREPARE + "x = kg._recorder.keep[0]\n        return x + 1\n"
        self.refused(stolen, "prepare_reads_input", "before there is one", 8)

    def test_errors_of_torch_and_python_have_their_line(self):
        self.refused(forward("pass\nreturn x @ torch.ones(3, 3, device=x.device)"), "exception", "RuntimeError", 7)
        self.refused(forward("return self.missing"), "exception", "AttributeError", 6)
        self.refused(forward("def deep(n): return deep(n + 1)\nreturn deep(0)"), "exception", "recurses without end", 6)
        self.refused(forward("return x + len(bytearray(64 << 30))"), "exception", "too much memory", 6)
        self.refused(forward("raise ValueError('a\\nb\\x1b[31m' + 'c' * 10000)"), "exception", "ValueError: a", 6)
        self.refused(forward("raise SystemExit(0)"), "exception", "SystemExit", 6)
        self.refused(forward("raise KeyboardInterrupt"), "exception", "KeyboardInterrupt", 6)
        self.refused(forward("return x", "self"), "exception", "TypeError")

    def test_outputs_that_are_no_tensors(self):
        for value in ("'text'", "object()", "{1, 2}", "(x, [b'bytes'])"):
            self.refused(forward(f"return {value}"), "wrong_output", "return tensors")

    def test_a_state_attribute_keeps_its_shape(self):
        task = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = torch.zeros(2)
    def forward(self, x): return x
def get_inputs(): return [torch.rand(2)]
def get_init_inputs(): return []
"""
        self.load(task)
        try:
            self.refused(forward("self.hidden = torch.zeros(3, device=x.device)\nreturn x"), "state_changed_shape", "hidden")
        finally:
            self.load(self.TASK)

    def test_long_programs(self):
        error = self.refused(forward("for i in range(300):\n    x = x + 1\nreturn x"), "too_many_steps", "inside one kernel", 7, max_steps=200)
        self.assertIn("more than 200 steps", error["message"])
        self.assertTrue(self.trace(forward("for i in range(200):\n    x = x + 1\nreturn x"), max_steps=200)["ok"])
        self.refused(forward("pass\nwhile True: pass"), "deadline", "takes too long", 7, seconds=1)
        self.refused("x = 1\nwhile True: pass\n", "deadline", "takes too long", 2, seconds=1)
        stubborn = "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass"
        self.refused(forward(stubborn), "deadline", "did not end within 1 s", seconds=1)
        self.refused(forward("def spin():\n    while True: pass\nwhile True:\n    try: spin()\n    except BaseException: pass"), "deadline", "did not end within 1 s", seconds=1)

    def test_processes_that_end_on_their_own(self):
        for body, code in (("os._exit(0)", "said nothing"), ("os._exit(3)", "ended with 3"), ("os.abort()", "ended with -6"),
                           ("import ctypes; ctypes.string_at(0)", "ended with -11")):
            self.refused(forward(f"import os\n{body}"), "crashed", code)

    def test_requests_that_make_no_sense(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as f:
            f.write("x = 1\n")
            f.flush()
            for line in ("", "[]", "3", "{", '{"cmd": "no"}', '{"cmd": ["trace"]}', '{"cmd": "trace"}', '{"cmd": "trace", "program": 3, "device": {}}',
                         '{"cmd": "trace", "program": "x", "device": 3}', '{"cmd": "trace", "program": "x", "seconds": "y"}', '{"cmd": "task"}',
                         '{"cmd": "trace", "program": "\\ud800"}', "[" * 100000):
                self.assertFalse(self.tracer.send(line)["ok"], line[:100])
            for path in (f.name, "/no/such/file", os.path.dirname(f.name)):
                error = self.tracer.ask("task", file=path)["error"]
                self.assertEqual((error["stage"], error["kind"]), ("internal", "task_error"))
        error = self.trace("x = 1\n")["error"]  # a task that failed to load leaves none behind
        self.assertIn("no task is loaded", error["message"])
        self.load(self.TASK)
        self.assertTrue(self.trace(forward("return x"))["ok"])


class TaskFiles(TracerTest):
    """What is wrong with a user's own model is told of that file, with its line."""

    def says(self, *wanted: str, body: str = "return self.fc(x)", inputs: str = "[torch.rand(2, 4)]", top: str = ""):
        path = os.path.join(self.folder.name, "mine.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"""import torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
    def forward(self, x):
        {body}
def get_inputs(): return {inputs}
def get_init_inputs(): return []
{top}
""")
        reply = self.tracer.ask("task", file=path)
        self.assertFalse(reply["ok"], body)
        message = reply["error"]["message"]
        for text in wanted:
            self.assertIn(text, message)
        for text in ("host program", "python block"):
            self.assertNotIn(text, message)

    def test_are_named_with_the_line_that_is_wrong(self):
        self.says("mine.py:11: SyntaxError: ", top="def f(:")
        self.says("mine.py:8: NameError: name 'y' is not defined", body="return y")
        self.says("mine.py:8: RuntimeError: ", "[2, 4] X [2, 4]", body="return x @ x")
        self.says("mine.py:11: imports einopz, which is not installed", top="import einopz")
        self.says("get_inputs must return a list, not a Tensor", inputs="torch.rand(2, 4)")
        self.says("defines get_inputs", top="del get_inputs")

    def test_what_a_model_may_not_do_is_said_of_the_model(self):
        self.says("mine.py:8: your model decides in Python", body="return x if x.sum() > 0 else -x")
        self.says("mine.py:8: your model decides in Python", body="return x * x.max().item()")
        self.says("mine.py:8: ", "your model draws random numbers", "dropout", body="return torch.dropout(x, 0.5, True)")
        self.says("mine.py:8: ", "your model makes a tensor on the CPU", body="return torch.zeros(3)")
        self.says("mine.py:8: ", "your model takes a tensor off the GPU", body="return x.cpu()")
        self.says("mine.py:8: ", "in your model depends on data", body="return x[x > 0]")


    def test_dropout_that_drops_nothing_is_none(self):
        task = "import torch\nfrom torch import nn\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        " \
               "self.drop = nn.Dropout(P)\n        EVAL\n    def forward(self, x): return self.drop(x) + 1\n" \
               "def get_inputs(): return [torch.rand(2, 4)]\ndef get_init_inputs(): return []\n"
        self.load(task.replace("P", "0.0").replace("EVAL", ""))
        self.load(task.replace("P", "0.5").replace("EVAL", "self.eval()"))


# Stands for kagent: has a tracer load a task file from a thread that ends, prints the tracer's number and stays.
_PARENT = """
import json, subprocess, sys, threading, time
def start():
    global child
    child = subprocess.Popen([sys.executable, "-B", sys.argv[1], "--seal", sys.argv[2]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdin.write(json.dumps({"cmd": "task", "file": sys.argv[3]}).encode() + b"\\n")
    child.stdin.flush()
thread = threading.Thread(target=start)
thread.start()
thread.join()
print(child.pid, flush=True)
time.sleep(1000)
"""


class WithoutParent(unittest.TestCase):
    def test_a_task_file_that_loops_ends_with_kagent_and_not_before(self):
        with tempfile.TemporaryDirectory() as folder:
            task, begun = os.path.join(folder, "task.py"), os.path.join(folder, "begun")
            with open(task, "w", encoding="utf-8") as f:
                f.write(f"open({begun!r}, 'w').close()\nwhile True: pass\n")
            parent = subprocess.Popen([sys.executable, "-c", _PARENT, os.path.join(ROOT, "harness", "trace.py"), os.environ["KAGENT_SEAL_LIB"], task],
                                      stdout=subprocess.PIPE, text=True)
            self.addCleanup(parent.stdout.close)
            pid = int(parent.stdout.readline())
            self.wait(lambda: os.path.exists(begun), 60)
            time.sleep(1.5)
            self.assertTrue(self.runs(pid))
            parent.kill()
            parent.wait()
            try:
                self.wait(lambda: not self.runs(pid), 10)
            finally:
                if self.runs(pid):
                    os.kill(pid, 9)

    def wait(self, done, seconds: float):
        end = time.monotonic() + seconds
        while not done():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    @staticmethod
    def runs(pid: int) -> bool:
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
                return f.read().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False


class WithoutSeal(unittest.TestCase):
    def test_nothing_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            tracer = TracerProcess(os.path.join(folder, "libkagent_seal.so"))
            error = tracer.ask("hello")["error"]
            self.assertEqual(error["kind"], "no_seal")
            self.assertIn("libkagent_seal.so", error["message"])
            self.assertEqual(tracer.ask("trace", program="x", device={})["error"]["kind"], "no_seal")
            tracer.close()


if __name__ == "__main__":
    unittest.main()
