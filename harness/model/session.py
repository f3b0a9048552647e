"""What a worker holds between commands, and the questions every command asks of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from check.input_kinds import AS_DRAWN
from model.failure import Failure
from model.inputs import HOST, KeptDraws, make_inputs
from model.load import Task
from model.loaded_plan import LoadedPlan
from model.state import ModelState

Request = dict[str, Any]
Answer = dict[str, Any]


@dataclass
class Session:
    role: str     # "reference" or "candidate"
    backend: str  # "cuda" or "cpu"
    library: str  # libkagent_harness.so
    may_compile: bool = False  # with torch.compile
    task: Task | None = None
    model: nn.Module | None = None
    state: ModelState | None = None
    facts: dict[str, Any] = field(default_factory=dict)  # of the task, for re-inference
    seed: int = 42
    plan: LoadedPlan | None = None
    double: nn.Module | None = None  # the model in double precision (check/oracle.py)
    base: Any = None  # check.sensitivity.Base: what the last touched draws were held against
    read_only: Any = None  # check.changes.ReadOnly: what the timed runs may not write to
    draws: KeptDraws = field(default_factory=KeptDraws)  # of this task
    compiled: dict[str, Any] = field(default_factory=dict)  # measure.compiled.Compiled by kind
    timers: dict[str, Any] = field(default_factory=dict)  # measure.timing.Timer by kind
    # By first seed: the seeds and the inputs drawn from them; read-only for whatever is timed.
    input_sets: dict[int, tuple[list[int], list[list[Any]]]] = field(default_factory=dict)

    @property
    def device(self) -> torch.device:
        return torch.device("cuda", torch.cuda.current_device()) if self.backend == "cuda" else torch.device("cpu")

    def inputs(self, seed: int, scale: float = 1.0, kind: str = AS_DRAWN, drawn_on: str = HOST) -> list[Any]:
        return make_inputs(self.need_task(), seed, scale, self.device, kind, drawn_on, self.draws)

    def need_task(self) -> Task:
        if self.task is None or self.model is None:
            raise Failure("internal", "bad_request", "no task is loaded: send task first")
        return self.task

    def need_plan(self) -> LoadedPlan:
        if self.plan is None:
            raise Failure("internal", "bad_request", "no plan is loaded: send plan first")
        return self.plan

    def need_gpu(self, stage: str) -> None:
        if self.backend != "cuda":
            raise Failure(stage, "needs_gpu", "there is no GPU here to measure on")

    def need_role(self, role: str, what: str) -> None:
        if self.role != role:
            raise Failure("internal", "bad_request", f"{what} is for the {role} worker, this is the {self.role} worker")

    def synchronize(self) -> None:
        if self.backend == "cuda":
            torch.cuda.synchronize()


def argument(request: Request, name: str, kind: type, default: Any = None) -> Any:
    """A request's field of a type, or its default. Raises Failure bad_request."""
    value = request.get(name, default)
    good = isinstance(value, (int, float) if kind is float else kind) and (kind is bool or not isinstance(value, bool))
    if not good:
        raise Failure("internal", "bad_request",
                      f"{request.get('cmd')}: {name} must be {kind.__name__}, not {value!r:.80}")
    return kind(value)
