"""A task on tensors without data: what every trace of it starts from."""
from __future__ import annotations

import types

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from tracer import program
from tracer.errors import TraceError


class Task:
    """A task file (trusted) and its model on tensors without data."""

    def __init__(self, path: str):
        with open(path, encoding="utf-8") as f:
            source = f.read()
        self.module = types.ModuleType("task")
        self.module.__file__ = path
        exec(compile(source, path, "exec"), self.module.__dict__)  # noqa: S102  the benchmark's own code
        for name in ("Model", "get_inputs", "get_init_inputs"):
            if not hasattr(self.module, name):
                raise TraceError("no_model", f"a task file defines {name}, and this one does not")
        self.mode = FakeTensorMode(allow_non_fake_inputs=True)
        try:
            with self.mode, torch.device("cuda"):
                self.model = self.module.Model(*self._listed("get_init_inputs"))
        except Exception:  # noqa: BLE001  a constructor that reads values (3/29, 3/30) needs real tensors
            real = self.module.Model(*self._listed("get_init_inputs"))
            with self.mode:
                self.model = _to_fake(real, self.mode)
        with self.mode, torch.device("cuda"):
            self.inputs = [_cuda(x, self.mode) for x in self._listed("get_inputs")]

    def _listed(self, function: str) -> list:
        """What get_inputs or get_init_inputs gives. A bare tensor would be taken apart along its first dimension."""
        values = getattr(self.module, function)()
        if not isinstance(values, (list, tuple)):
            kind = "Tensor" if isinstance(values, torch.Tensor) else type(values).__name__
            raise TraceError("exception", f"{function} must return a list, not a {kind}")
        return list(values)

    def trace(self, cls: type | None, max_steps: int) -> dict:
        with self.mode:
            return program.trace(self.model, self.inputs, max_steps, cls)


def _cuda(value, mode: FakeTensorMode):
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cuda")


def _to_fake(model: torch.nn.Module, mode: FakeTensorMode) -> torch.nn.Module:
    for module in model.modules():
        for name, p in list(module._parameters.items()):
            if p is not None:
                module._parameters[name] = torch.nn.Parameter(_cuda(p, mode), requires_grad=p.requires_grad)
        for name, b in list(module._buffers.items()):
            if b is not None:
                module._buffers[name] = _cuda(b, mode)
        for name, value in list(vars(module).items()):
            if isinstance(value, torch.Tensor):
                setattr(module, name, _cuda(value, mode))
    return model
