"""Runs a host program on the reference model and gives its plan. Everything here may run model-written code."""
from __future__ import annotations

import math
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher

import kagent as kg
from tracer.errors import ANSWER, TraceError
from tracer.recorder import Recorder


def model_class(program: str, task_module) -> type:
    """ModelNew as the program defines it. It sees the names of the task's own module."""
    names: dict[str, Any] = {k: v for k, v in vars(task_module).items() if not k.startswith("__")}
    names.update({"__name__": "answer", "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "math": math, "kg": kg})
    try:
        code = compile(program, ANSWER, "exec")
    except ValueError as error:  # a null byte, half a surrogate pair
        raise TraceError("syntax_error", f"the python block does not parse: {error}") from error
    exec(code, names)  # noqa: S102  this is what the seal is for
    cls = names.get("ModelNew")
    if not isinstance(cls, type):
        raise TraceError("no_model", "the python block defines no class ModelNew(Model)")
    reference = task_module.Model
    if not issubclass(cls, reference):
        raise TraceError("no_model", "ModelNew must inherit from Model: class ModelNew(Model)")
    if "__init__" in vars(cls):
        raise TraceError("own_init", "ModelNew must not define __init__: it gets a ready Model. Put weight-only preparation into prepare(self)")
    if "forward" not in vars(cls):
        raise TraceError("no_forward", "ModelNew must define forward, with the arguments of Model.forward")
    return cls


def trace(model: torch.nn.Module, inputs: list, max_steps: int, cls: type | None = None) -> dict:
    """The plan of cls on the model, or of the model itself. Call it under FakeTensorMode."""
    recorder = Recorder(model, inputs, max_steps)
    kg._recorder = recorder
    try:
        if cls is not None:
            model.__class__ = cls
        with torch.no_grad(), enable_python_dispatcher(), recorder:
            if cls is not None and hasattr(cls, "prepare"):
                model.prepare()
            recorder.phase = "forward"
            output = model(*inputs)
            recorder.settle_state()
        return recorder.plan(output)
    finally:
        kg._recorder = None
