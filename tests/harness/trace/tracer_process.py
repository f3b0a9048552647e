"""The tracer as a process, and the small task most of its tests use."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
DEVICE = {"name": "NVIDIA H200", "arch": "sm_90a", "sm_count": 132, "shared_per_block": 232448}
HEAD = "import torch\nimport torch.nn.functional as F\nimport kagent as kg\n"
CONV = """
import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3)
        self.bn = nn.BatchNorm2d(channels)
    def forward(self, x):
        return self.bn(self.conv(x))
def get_inputs(): return [torch.rand(2, 3, 8, 8)]
def get_init_inputs(): return [4]
"""


class TracerProcess:
    """Newline-delimited JSON with harness/trace.py."""

    def __init__(self, seal: str | None = None, environment: dict | None = None):
        seal = seal or os.environ["KAGENT_SEAL_LIB"]
        self.child = subprocess.Popen([sys.executable, "-B", os.path.join(ROOT, "harness", "trace.py"), "--seal", seal], text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      env={"PATH": os.environ["PATH"], **(environment or {})})

    def ask(self, cmd: str, **fields) -> dict:
        return self.send(json.dumps({"cmd": cmd, **fields}))

    def send(self, line: str) -> dict:
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())

    def close(self) -> int:
        self.child.stdin.close()
        self.child.stdout.close()
        return self.child.wait(timeout=60)


class TracerTest(unittest.TestCase):
    """A tracer for the whole class; `load` gives it a task."""
    TASK = CONV
    ENVIRONMENT: dict = {}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.tracer = TracerProcess(environment=cls.ENVIRONMENT)
        hello = cls.tracer.ask("hello")
        if not hello["ok"]:
            cls.tearDownClass()
            raise unittest.SkipTest(hello["error"]["message"])
        cls.load(cls.TASK)

    @classmethod
    def tearDownClass(cls):
        cls.tracer.close()
        cls.folder.cleanup()

    @classmethod
    def load(cls, task: str) -> dict:
        path = os.path.join(cls.folder.name, "task.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(task)
        reply = cls.tracer.ask("task", file=path)
        assert reply["ok"], reply
        return reply

    def trace(self, program: str, **more) -> dict:
        return self.tracer.ask("trace", program=program, device=DEVICE, **more)

    def plan(self, program: str) -> dict:
        reply = self.trace(program)
        self.assertTrue(reply["ok"], reply)
        return json.loads(reply["plan"])

    def reference(self, task: str) -> dict:
        self.load(task)
        reply = self.tracer.ask("trace_reference", device=DEVICE)
        self.assertTrue(reply["ok"], reply)
        return json.loads(reply["plan"])

    def refused(self, program: str, kind: str, says: str = "", line: int | None = None, **more) -> dict:
        reply = self.trace(program, **more)
        self.assertFalse(reply["ok"], program)
        error = reply["error"]
        self.assertEqual((error["kind"], error["line"], error["stage"]), (kind, line, "trace"), f"{program}\n{error}")
        self.assertIn(says, error["message"], program)
        self.assertTrue(error["message"].isprintable(), error["message"])
        return error


def forward(body: str, arguments: str = "self, x") -> str:
    """ModelNew with this body: its first line is line 6 of the answer."""
    lines = "\n".join("        " + line for line in body.strip("\n").split("\n"))
    return f"{HEAD}class ModelNew(Model):\n    def forward({arguments}):\n{lines}\n"
