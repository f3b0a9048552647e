"""Runs one kernel through the plan executor, on the GPU or emulated: what the emulator's tests share."""
from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ["KAGENT_BUILD"]
CUDA = os.environ.get("KAGENT_CUDA_ROOT", "")
N = 1024

torch.ops.load_library(f"{BUILD}/lib/libkagent_harness.so")


@dataclass(frozen=True)
class Case:
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    cooperative: bool
    exact: bool


def cases(source: str) -> list[Case]:
    """The launches that stand above the kernels of a file."""
    found = []
    for line, text in re.findall(r"^// (grid=[^\n]*)\n(.*?)\{", source, re.MULTILINE | re.DOTALL):
        words = dict(word.split("=") for word in line.split() if "=" in word)
        name = re.search(r"void\s+(\w+)\s*\(", text).group(1)
        if "template" in text:
            name += "<3, float>"
        three = lambda text: tuple(int(v) for v in text.split(","))  # noqa: E731
        found.append(Case(name, three(words["grid"]), three(words["block"]), int(words.get("shared", 0)), "cooperative" in line.split(),
                          "exact" in line.split()))
    return found


def inputs() -> list[torch.Tensor]:
    x = torch.rand(N, generator=torch.Generator().manual_seed(7))
    return [x, torch.zeros(N)]


class Compiler:
    def __init__(self, cache: str):
        argv = [f"{BUILD}/bin/kagent-compile", "--cache", cache, "--emulate-include", f"{ROOT}/harness/emulate/include"]
        self.process = subprocess.Popen(argv + (["--cuda", CUDA] if CUDA else []), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request) -> dict:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def plan_of(case: Case) -> str:
    tensor = {"shape": [N], "stride": [1], "offset": 0, "dtype": "float32"}
    launch = {"launch": case.kernel, "grid": list(case.grid + (1, 1))[:3], "block": list(case.block + (1, 1))[:3], "shared": case.shared, "cluster": None,
              "cooperative": case.cooperative, "line": 1, "args": [{"t": 0}, {"t": 1}, N]}
    return json.dumps({"version": 1, "options": {"graph": False, "tf32": False}, "tensors": [{**tensor, "storage": 0}, {**tensor, "storage": 1}],
                       "inputs": [{"t": 0}, {"t": 1}], "parameters": [], "buffers": [], "state": [], "constants": [], "prepare": [], "forward": [launch],
                       "outputs": {"t": 1}, "tags": []})


class Kernels:
    """A CUDA text, compiled for the GPU and for this CPU."""

    def __init__(self, compiler: Compiler, source: str, names: list[str], checking: bool = False):
        self.names = names
        self.compiled = compiler.ask(cmd="compile", source=source, arch="sm_90a", names=names)
        if not self.compiled["ok"]:
            raise ValueError(self.compiled["error"]["message"])
        self.emulated = compiler.ask(cmd="emulate", source=source, names=names, checking=checking)

    def run(self, case: Case, device: str, deadline_s: float = 30) -> torch.Tensor:
        emulate = {"starter": f"{BUILD}/bin/kagent-emulate", "program": self.emulated.get("program", ""), "names": self.names, "deadline_s": deadline_s}
        executor = torch.classes.kagent.Executor(plan_of(case), json.dumps(self.compiled["kernels"]), self.compiled["cubin"], device,
                                                 json.dumps({} if device.startswith("cuda") else {"emulate": emulate}))
        executor.bind([], [], [])
        executor.prepare()
        return executor.run([t.to(device) for t in inputs()])[0].cpu()


def error_of(error: RuntimeError) -> dict:
    """The protocol error inside an exception of the library's."""
    text = str(error)
    return json.JSONDecoder().raw_decode(text, text.index("kagent:{") + len("kagent:"))[0]
