"""The reference model, built anew from its seed. Never deep-copied: a copy keeps lambdas bound to the original."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from model.failure import Failure, cuda_kind
from model.load import Task, listed, task_failure
from model.seed import set_seed
from model.state import move_plain_state


def build_model(task: Task, seed: int, device: torch.device) -> nn.Module:
    """Order of seeding and casting as in the official evaluator (eval_kernel_against_ref): seed, constructor arguments,
    seed, constructor, .to(device, float32). Train mode as constructed. Plain tensor attributes, which .to() forgets,
    are moved too, so that state starts on the device."""
    try:
        with torch.no_grad():
            set_seed(seed)
            arguments = [to_device(value, device) for value in listed(task.get_init_inputs, "get_init_inputs")]
            set_seed(seed)
            model = task.model_class(*arguments)
            model = model.to(device=device, dtype=torch.float32)
            move_plain_state(model, device)
    except Exception as error:
        if isinstance(error, (MemoryError, torch.OutOfMemoryError)) or cuda_kind(str(error)):
            raise
        raise task_failure(task.path, "building the model", error) from error
    if not callable(getattr(model, "forward", None)):
        raise Failure("task", "task_error", f"{task.path}: Model has no forward")
    return model


def to_device(value: Any, device: torch.device) -> Any:
    """Floating tensors become float32, as officially; integer tensors, which the official code casts too and so could
    never index with, keep their type."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.to(dtype=torch.float32 if value.is_floating_point() else value.dtype).to(device)
