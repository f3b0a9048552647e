"""Seeds as the official evaluator sets them (KernelBench-Verified 3fdf6fec, src/eval.py: set_seed), and those of numpy and Python:
two processes must see the same inputs and parameters whichever global generator a task file draws from."""

from __future__ import annotations

import random
from typing import Any

import torch

try:
    import numpy
except ImportError:
    numpy = None


def set_seed(seed: int) -> None:
    torch.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed(seed)
    random.seed(seed)
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))  # it takes no other


def host_state() -> tuple[Any, ...]:
    """Where the host's generators stand."""
    return torch.get_rng_state(), random.getstate(), None if numpy is None else numpy.random.get_state()


def set_host_state(state: tuple[Any, ...]) -> None:
    of_torch, of_python, of_numpy = state
    torch.set_rng_state(of_torch)
    random.setstate(of_python)
    if numpy is not None:
        numpy.random.set_state(of_numpy)
