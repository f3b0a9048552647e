"""Seeds as the official evaluator sets them (KernelBench-Verified 3fdf6fec, src/eval.py: set_seed)."""

from __future__ import annotations

import torch


def set_seed(seed: int) -> None:
    torch.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed(seed)
