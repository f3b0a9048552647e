"""Workers and tracer as processes, on the CPU: a traced reference, run as a plan, equals eager bit for bit; roles are
held; wrong requests are answered and survived."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
BUILD = os.environ["KAGENT_BUILD"]
PYTHON = os.environ.get("KAGENT_PYTHON", sys.executable)
DEVICE = {"name": "NVIDIA H200", "arch": "sm_90a", "sm_count": 132, "shared_per_block": 232448, "shared_per_sm": 233472,
          "registers_per_sm": 65536, "threads_per_sm": 2048, "blocks_per_sm": 32, "max_cluster": 8,
          "l2_bytes": 62914560, "memory_bytes": 150000000000, "driver": "none"}
MODELS = ("lenet", "residual", "lstm", "attention", "carrying", "rebinding")


def model(name: str) -> str:
    return os.path.join(HERE, "models", name + ".py")


class Process:
    """Newline-delimited JSON with a child."""

    def __init__(self, script: str, *arguments: str):
        environment = {"PATH": os.environ["PATH"], "HOME": tempfile.gettempdir(), "CUDA_VISIBLE_DEVICES": ""}
        self.child = subprocess.Popen([PYTHON, "-s", "-E", "-B", os.path.join(ROOT, "harness", script), *arguments],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      env=environment)

    def send(self, line: bytes) -> dict:
        self.child.stdin.write(line + b"\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())

    def ask(self, cmd: str, **fields) -> dict:
        return self.send(json.dumps({"cmd": cmd, **fields}).encode())

    def close(self) -> int:
        self.child.stdin.close()
        self.child.stdout.close()
        return self.child.wait(timeout=60)


def worker(role: str) -> Process:
    return Process("worker.py", "--role", role, "--backend", "cpu", "--library", f"{BUILD}/lib/libkagent_harness.so")


class Plans(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tracer = Process("trace.py", "--seal", f"{BUILD}/lib/libkagent_seal.so")
        cls.reference, cls.candidate = worker("reference"), worker("candidate")
        for process in (cls.reference, cls.candidate):
            assert process.ask("hello")["ok"]
        cls.folder = tempfile.TemporaryDirectory()
        cls.file = os.path.join(cls.folder.name, "outputs")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
        cls.codes = [process.close() for process in (cls.reference, cls.candidate)]
        cls.tracer.close()
        assert cls.codes == [0, 0], cls.codes

    def load(self, name: str) -> str:
        """The task in both workers and the tracer; the reference's plan, loaded in the reference worker."""
        for process in (self.tracer, self.reference, self.candidate):
            answer = process.ask("task", file=model(name), seed=42)
            self.assertTrue(answer["ok"], answer)
        traced = self.tracer.ask("trace_reference", device=DEVICE)
        self.assertTrue(traced["ok"], traced)
        loaded = self.load_plan(traced["plan"])
        self.assertTrue(loaded["ok"], loaded)
        return traced["plan"]

    def load_plan(self, text: str) -> dict:
        return self.reference.ask("plan", plan=text, cubin=None, kernels={}, device=DEVICE, reference=True,
                                  options={"graph": False, "tf32": False})

    def compared(self, **draw) -> dict:
        answer = self.reference.ask("compare", file=self.file, tolerance=1e-3, flags="official", **draw)
        self.assertTrue(answer["ok"], answer)
        return answer

    def test_of_references_equal_eager_bit_for_bit_with_state(self):
        for name in MODELS:
            self.load(name)
            for draw in ({"seed": 7, "scale": 1.0, "calls": 1}, {"seed": 8, "scale": -1.0, "calls": 3}):
                ran = self.reference.ask("run", out=self.file, **draw)
                self.assertTrue(ran["ok"], ran)
                answer = self.compared(**draw)
                self.assertTrue(answer["passed"] and answer["bitwise"], f"{name}: {answer}")
            if name != "attention":  # on the CPU its library call lays its result out otherwise than planned for CUDA
                self.assertEqual(self.reference.ask("strides")["differing"], 0, name)

    def test_runs_start_from_fresh_state_and_two_processes_draw_the_same(self):
        self.load("carrying")
        contents = []
        for _ in range(2):
            self.reference.ask("run", out=self.file, seed=3, scale=1.0, calls=2)
            with open(self.file, "rb") as file:
                contents.append(file.read())
        self.assertEqual(contents[0], contents[1])
        self.assertTrue(self.compared(seed=3, scale=1.0, calls=2)["bitwise"])

    def test_another_seed_scale_or_number_of_calls_fails(self):
        self.load("residual")
        self.reference.ask("run", out=self.file, seed=3, scale=1.0, calls=1)
        for draw in ({"seed": 4, "scale": 1.0}, {"seed": 3, "scale": 3.0}, {"seed": 3, "scale": 1.0, "calls": 2}):
            answer = self.compared(**draw)
            self.assertFalse(answer["passed"], draw)
            self.assertGreater(max(entry["violations"] for entry in answer["outputs"] + answer["state"]), 0)
        # Outputs of train-mode batch norm do not depend on the statistics, so only the state tells two calls from one.
        names = [entry["name"] for entry in self.compared(seed=3, scale=1.0)["state"]]
        self.assertIn("layers.0.bn1.running_var", names)
        self.assertIn("layers.1.bn2.num_batches_tracked", names)

    def test_answers_name_shapes_and_plan_facts(self):
        task = self.candidate.ask("task", file=model("carrying"), seed=42)
        self.assertEqual(task["inputs"], [{"shape": [4, 5], "dtype": "float32"}, {"shape": [4], "dtype": "int64"}])
        self.assertEqual(task["parameter_bytes"], 4 * (5 * 10 + 5 + 10 * 5))
        plan = self.load("lenet")
        loaded = self.load_plan(plan)
        self.assertEqual((loaded["launches"], loaded["prepare_steps"]), (0, 0))
        self.assertIn("aten::conv2d", loaded["library_ops"])
        self.assertGreater(loaded["steps"], 7)

    def test_roles_are_held(self):
        plan = self.load("lenet")
        for process, reference in ((self.candidate, True), (self.reference, False)):
            answer = process.ask("plan", plan=plan, cubin=None, kernels={}, device=DEVICE, reference=reference)
            self.assertEqual(answer["error"]["kind"], "bad_request", answer)
        self.assertEqual(self.candidate.ask("compare", file=self.file, seed=1)["error"]["kind"], "bad_request")

    def test_without_a_kernel_are_no_candidates(self):
        plan = self.load("lenet")
        answer = self.candidate.ask("plan", plan=plan, cubin=None, kernels={}, device=DEVICE, reference=False)
        self.assertEqual((answer["ok"], answer["error"]["stage"]), (False, "validate"))
        self.assertEqual(self.candidate.ask("run", seed=1, scale=1.0, out=self.file)["error"]["kind"], "bad_request")

    def test_of_another_model_or_with_false_claims_are_refused(self):
        plan = json.loads(self.load("lenet"))
        self.reference.ask("task", file=model("lstm"), seed=42)
        answer = self.load_plan(json.dumps(plan))
        self.assertEqual((answer["ok"], answer["error"]["stage"]), (False, "validate"))
        self.reference.ask("task", file=model("lenet"), seed=42)
        plan["tensors"][-1]["shape"][0] += 1
        for text in (json.dumps(plan), "{", "[]", "null", '{"version": 1}'):
            answer = self.load_plan(text)
            self.assertEqual((answer["ok"], answer["error"]["stage"]), (False, "validate"), text[:50])

    def test_with_launches_are_refused_where_there_is_no_gpu(self):
        self.load("carrying")
        program = ("import kagent as kg\nimport torch\nclass ModelNew(Model):\n    def forward(self, x, index):\n"
                   "        y = torch.empty_like(self.hidden)\n"
                   "        kg.launch('twice', grid=(1,), block=(32,), args=[self.hidden, y, y.numel()])\n"
                   "        return y\n")
        traced = self.tracer.ask("trace", program=program, device=DEVICE, max_steps=100, seconds=20)
        self.assertTrue(traced["ok"], traced)
        pointer = {"size": 8, "align": 8, "kind": "pointer", "pointee": None, "const": None}
        kernel = {"symbol": "twice", "mangled": False, "registers": 16, "static_shared_bytes": 0, "local_bytes": 0,
                  "spill_store_bytes": 0, "spill_load_bytes": 0, "max_threads": 1024, "required_cluster": None,
                  "params": [pointer, pointer, {"size": 4, "align": 4, "kind": "int", "pointee": None, "const": None}]}
        answer = self.candidate.ask("plan", plan=traced["plan"], cubin="/none", kernels={"twice": kernel},
                                    device=DEVICE)
        self.assertEqual((answer["ok"], answer["error"]["kind"]), (False, "needs_gpu"), answer)

    def test_are_not_timed_where_there_is_no_gpu(self):
        self.load("lenet")
        for cmd in ("time_begin", "profile"):
            self.assertEqual(self.reference.ask(cmd, kind="eager", seed=1, warmup=1)["error"]["kind"], "needs_gpu")
        self.assertEqual(self.reference.ask("time_burst", kind="eager", count=3)["error"]["kind"], "bad_request")


class Requests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = worker("reference")

    @classmethod
    def tearDownClass(cls):
        cls.worker.close()

    def test_that_are_wrong_are_answered_and_survived(self):
        for line in (b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"cmd": 3}', b'{"cmd": "nonsense"}', b"[" * 100000,
                     b'{"cmd": "task"}', b'{"cmd": "task", "file": 3}', b'{"cmd": "run", "seed": 1, "out": "/tmp/x"}',
                     b'{"cmd": "compare", "file": "/none", "seed": 1}', b'{"cmd": "plan", "plan": "{}", "device": {}}',
                     b'{"cmd": "strides"}', b'{"cmd": "time_end", "kind": "plan"}', b'{"cmd": "time_check"}'):
            answer = self.worker.send(line)
            self.assertEqual((answer["ok"], answer["error"]["kind"]), (False, "bad_request"), line[:60])
        self.assertEqual(self.worker.ask("task", file="/none.py")["error"]["kind"], "task_error")
        self.assertEqual(self.worker.ask("hello")["backend"], "cpu")

    def test_whose_task_file_leaves_are_answered(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write("import sys\nsys.exit(3)\n")
            file.flush()
            self.assertFalse(self.worker.ask("task", file=file.name)["ok"])
        self.assertTrue(self.worker.ask("task", file=model("carrying"), seed=1)["ok"])  # it prints on stdout, too


if __name__ == "__main__":
    unittest.main()
