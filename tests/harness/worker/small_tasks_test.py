"""The small form of every built-in task: its reference, traced as a plan and run by the plan executor on the CPU, gives eager's outputs and state bit for bit."""
import json
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tests", "gpu"))
from null_plans import Child, check, start_worker  # noqa: E402

PYTHON, BUILD = os.environ["KAGENT_PYTHON"], os.environ["KAGENT_BUILD"]

class SmallTasks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker, cls.device = start_worker(PYTHON, BUILD, "cpu")
        cls.tracer = Child([PYTHON, "-s", "-E", "-B", f"{ROOT}/harness/trace.py", "--seal", f"{BUILD}/lib/libkagent_seal.so"], "")

    @classmethod
    def tearDownClass(cls):
        for child in (cls.worker, cls.tracer):
            child.process.kill()
            child.process.wait()
            child.process.stdin.close()
            child.process.stdout.close()

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
                    answer = check(path, self.worker, self.tracer, self.device)
                    self.assertTrue(answer["bitwise"], answer["reason"])


if __name__ == "__main__":
    unittest.main()
