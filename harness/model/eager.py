"""The reference itself, as PyTorch runs it. The caller sets no_grad and precision flags."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from model.failure import cuda_kind, embedded
from model.load import Task, task_failure


def call_eager(task: Task, model: nn.Module, inputs: list[Any]) -> Any:
    """Raises Failure (stage task) for an exception of the task file's own code; CUDA errors and lack of memory as they
    are."""
    try:
        return model(*inputs)
    except Exception as error:
        text = str(error)
        machine = isinstance(error, (MemoryError, torch.OutOfMemoryError)) or cuda_kind(text) or "CUDA error" in text
        if machine or embedded(text):
            raise
        raise task_failure(task.path, "forward", error) from error
