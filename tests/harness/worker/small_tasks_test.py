"""The small form of every built-in task: its reference, traced as a plan and run by the plan executor on the CPU, gives eager's outputs and state bit for bit."""
import json
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tests", "gpu"))
from null_plans import Child  # noqa: E402

PYTHON, BUILD = os.environ["KAGENT_PYTHON"], os.environ["KAGENT_BUILD"]
DEVICE = {"name": "cpu", "arch": "sm_90a", "sm_count": 132, "shared_per_block": 232448, "shared_per_sm": 233472, "registers_per_sm": 65536, "threads_per_sm": 2048, "blocks_per_sm": 32,
          "max_cluster": 8, "l2_bytes": 62914560, "memory_bytes": 0, "driver": "none"}


class SmallTasks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = Child([PYTHON, "-s", "-E", "-B", f"{ROOT}/harness/worker.py", "--role", "reference", "--backend", "cpu", "--library", f"{BUILD}/lib/libkagent_harness.so"], "")
        cls.tracer = Child([PYTHON, "-s", "-E", "-B", f"{ROOT}/harness/trace.py", "--seal", f"{BUILD}/lib/libkagent_seal.so"], "")
        cls.worker.ask(cmd="hello")

    @classmethod
    def tearDownClass(cls):
        for child in (cls.worker, cls.tracer):
            child.process.kill()
            child.process.wait()
            child.process.stdin.close()
            child.process.stdout.close()

    def compared(self, path: str) -> dict:
        self.tracer.ask(cmd="task", file=path)
        self.worker.ask(cmd="task", file=path, seed=42)
        plan = self.tracer.ask(cmd="trace_reference", device=DEVICE)["plan"]
        self.worker.ask(cmd="plan", plan=plan, cubin=None, kernels={}, device=DEVICE, reference=True, options={"graph": False, "tf32": False})
        with tempfile.NamedTemporaryFile() as file:
            self.worker.ask(cmd="run", seed=7, scale=1.0, out=file.name, calls=2)
            return self.worker.ask(cmd="compare", seed=7, scale=1.0, calls=2, file=file.name, tolerance=1e-3, flags="official")

    def test_null_plans_equal_eager(self):
        with open(f"{ROOT}/tasks/manifest.json", encoding="utf-8") as file:
            tasks = json.load(file)["tasks"]
        self.assertEqual(len(tasks), 50)
        with tempfile.TemporaryDirectory() as folder:
            for task in tasks:
                with self.subTest(task["id"]), open(f"{ROOT}/tasks/{task['file']}", encoding="utf-8") as source:
                    self.assertTrue(task["small"])
                    path = os.path.join(folder, os.path.basename(task["file"]))
                    with open(path, "w", encoding="utf-8") as small:
                        small.write(source.read() + "".join(f"\n{name} = {json.dumps(value)}" for name, value in task["small"].items()) + "\n")
                    answer = self.compared(path)
                    self.assertTrue(answer["bitwise"], answer["reason"])


if __name__ == "__main__":
    unittest.main()
