"""What would be slow the first time, done while other processes start up too."""

from __future__ import annotations

import time

import torch
from torch import nn

from model.eager import call_eager
from model.flags import precision
from model.load import Task
from model.state import ModelState


def tensors_without_data() -> None:
    """For re-inference."""
    with torch._subclasses.fake_tensor.FakeTensorMode(), torch.no_grad():
        torch.nn.functional.linear(torch.empty(2, 2, device="cuda"), torch.empty(2, 2, device="cuda")).relu()


def libraries(device: torch.device) -> None:
    """cuBLAS and cuDNN load and set themselves up at their first call."""
    if device.type != "cuda":
        return
    with torch.no_grad():
        torch.conv2d(torch.zeros(1, 8, 8, 8, device=device), torch.zeros(8, 8, 3, 3, device=device))
        torch.mm(torch.zeros(64, 64, device=device), torch.zeros(64, 64, device=device))
    torch.cuda.synchronize()


def reference(task: Task, model: nn.Module, state: ModelState, inputs: list) -> float:
    """The reference's own kernels are loaded and chosen; seconds of this first call. Not for a candidate's process: expected values
    never are there."""
    begin = time.monotonic()
    with torch.no_grad(), precision("official"):
        call_eager(task, model, inputs)
    torch.cuda.synchronize()
    call_s = time.monotonic() - begin
    state.restore()
    torch.cuda.empty_cache()
    return call_s
