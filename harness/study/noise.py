"""One-ulp noise: what any honest reordering of sums does to a model."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_ULP = 2.0**-23
# Operators below composite decomposition whose results are sums in some order, or transcendental functions of them.
_SUMS = ("convolution", "batch_norm", "layer_norm", "mm", "bmm", "baddbmm", "softmax", "mean", "sum", "cumsum", "attention", "cudnn_rnn", "norm")


class OneUlpNoise(TorchDispatchMode):
    """Multiplies every floating result of such an operator by 1 + U(-ulp, ulp)."""

    def __init__(self, device: torch.device, seed: int):
        super().__init__()
        self._generator = torch.Generator(device).manual_seed(seed)

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        out = func(*args, **(kwargs or {}))
        name = func._schema.name
        if not name.endswith("_") and any(word in name for word in _SUMS):
            first = out[0] if isinstance(out, (tuple, list)) else out  # statistics that come with a result are left alone
            if isinstance(first, torch.Tensor) and first.is_floating_point():
                factor = torch.empty_like(first).uniform_(-_ULP, _ULP, generator=self._generator)
                first.add_(first * factor)
        return out
