"""A plan that was validated, re-inferred, bound to the model and prepared: the only thing that runs a plan."""

from __future__ import annotations

import json
import os
import random
import time
from typing import Any

import torch
from torch import nn

from check.structure import Tree, renumbered
from measure.floor import least_bytes
from model.failure import Failure
from model.inputs import tensors_of
from model.state import ModelState
from plan.infer import Rejected, infer

_OPERATORS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "plan", "operators.txt")


class LoadedPlan:
    """Raises Failure (stage validate), or what the executor raises ("kagent:{json}", which failure_of reads)."""

    def __init__(self, text: str, kernels: dict[str, Any], cubin: str, device_facts: dict[str, Any], *, reference: bool,
                 aliasing: bool, inferred: bool, options: dict[str, Any] | None, model: nn.Module, state: ModelState,
                 facts: dict[str, Any], device: torch.device, emulate: dict[str, Any] | None = None):
        kernels_text = json.dumps(kernels)
        _hold(torch.ops.kagent.check(text, kernels_text, json.dumps(device_facts), _operators(),
                                     "reference" if reference else "candidate_aliasing" if aliasing else "candidate"))
        plan = json.loads(text)
        if not inferred:
            _reinfer(plan, facts)
        if device.type != "cuda" and not emulate and any("launch" in step for step in plan["prepare"] + plan["forward"]):
            raise Failure("run", "needs_gpu", "compiled and validated; there is no GPU here to run, check and time it")
        self.reference = reference
        self.least_bytes = least_bytes(plan) if reference else 0.0  # that a call must move
        self.structure: Tree = renumbered(plan["outputs"])
        self._executor = torch.classes.kagent.Executor(text, kernels_text, cubin, str(device),
                                                       json.dumps({**(options or {}), **({"emulate": emulate} if emulate else {})}))
        state.restore()
        self._executor.bind(list(model.parameters()),
                            [state.live[name] for name, _ in plan["buffers"]],
                            [state.live[name] for name, _ in plan["state"]])
        self._device = device
        self._random = random.SystemRandom()
        self._run = self._executor.run  # looking a method of torch's classes up takes as long as a small plan
        self.prepare_ms = self.prepare()

    def run(self, inputs: list[Any]) -> list[torch.Tensor]:
        """Fresh outputs, in the order of the structure's leaves; not synchronised."""
        return self._run(tensors_of(inputs))

    def run_guarded(self, inputs: list[Any], fill: str) -> list[torch.Tensor]:
        """Without a graph, every tensor between guard regions of "large" or "small" numbers. Raises what the executor raises
        (out_of_bounds)."""
        return self._executor.run_guarded(tensors_of(inputs), fill)

    def prepared(self) -> list[torch.Tensor]:
        """What prepare made and forward can reach: all of the memory that its tensors lie in, not only what they show of it."""
        return self._executor.prepared()

    def read_only(self) -> dict[str, torch.Tensor]:
        """What forward reads and may not write to, beside parameters: it would carry something from call to call."""
        made = {f"prepared tensor {i}": tensor for i, tensor in enumerate(self.prepared())}
        return made | {f"constant {i}": tensor for i, tensor in enumerate(self._executor.constants())}

    def set_stand_in(self, kernel: str, what: str) -> int:
        """Puts "nothing" or a "copy" of an argument in place of a kernel's launches, or of all ("*"), for the runs that follow; "none" ends
        it. Returns how many launches."""
        return self._executor.set_stand_in(kernel, what)

    def info(self) -> dict[str, Any]:
        return json.loads(self._executor.info())

    def profile(self, inputs: list[Any]) -> dict[str, Any]:
        return json.loads(self._executor.profile(tensors_of(inputs)))

    def set_graph(self, on: bool) -> None:
        self._executor.set_graph(on)

    def set_poison(self, pattern: str) -> None:
        """What scratch and outputs hold before they are written: "nan" or "huge"; "timed": whatever was there, as in a timed run; "off".
        On a GPU, but for "off", everything else that an earlier run may have left is cleared, too."""
        self._executor.set_poison("off" if pattern == "timed" else pattern)
        if pattern == "timed":
            self.scrub_at_random()
        elif pattern != "off":
            self.scrub(pattern)

    def scrub_at_random(self) -> None:
        """Before a timed run, and before one that shall not differ from it."""
        self.scrub(self._random.choice(("nan", "huge")))

    def set_disturbed(self, on: bool) -> None:
        """Whether, on a GPU, half of the multiprocessors are slowed down while the runs that follow begin (emulated: the last block
        begins first): blocks that race come in other orders."""
        self._executor.set_disturbed(on)

    def scrub(self, pattern: str) -> None:
        """On a GPU: free memory, the graph's own, shared and local memory and registers hold "nan" or "huge" from now on: nothing
        of an earlier run is left but what the caller holds. Not synchronised."""
        self._executor.scrub(pattern)

    def prepare(self) -> float:
        """To be run again whenever parameters have changed. Milliseconds."""
        self._synchronize()
        begin = time.monotonic()
        self._executor.prepare()
        self._synchronize()
        return 1000 * (time.monotonic() - begin)

    def _synchronize(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize()


def _operators() -> str:
    with open(_OPERATORS, encoding="utf-8") as file:
        return file.read()


def _hold(checked: str) -> None:
    answer = json.loads(checked)
    if answer["ok"]:
        return
    error = answer["error"]
    raise Failure(error["stage"], error["kind"], error["message"], error.get("detail") or "", error.get("line"),
                  error.get("block") or None)


def _reinfer(plan: dict[str, Any], facts: dict[str, Any]) -> None:
    try:
        infer(plan, facts)
    except Rejected as error:
        raise Failure("validate", error.kind, error.message, line=error.line,
                      block="python" if error.line else None) from error
