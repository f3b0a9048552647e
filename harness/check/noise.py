"""What honest work does to a model's numbers, put on its operators as they run: other orders of sums, and TF32."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_ULP = 2.0**-23
# Operators below composite decomposition whose results are sums in some order, or transcendental functions of them.
SUMS = ("convolution", "batch_norm", "layer_norm", "mm", "bmm", "baddbmm", "softmax", "mean", "sum", "cumsum", "attention", "cudnn_rnn", "norm")
# Operators that a kernel may compute by other instructions.
FUNCTIONS = ("mkldnn_rnn", "gelu", "sigmoid", "tanh", "silu", "exp")
_PRODUCTS = ("convolution", "addmm", "mm", "bmm", "baddbmm", "attention", "linear")


def _named(func: Any, words: tuple[str, ...]) -> bool:
    """An operator that makes something new and has one of these words in its name ("exp" is in "expand", a view)."""
    name, views = func._schema.name, any(result.alias_info is not None for result in func._schema.returns)
    return not name.endswith("_") and not views and any(word in name for word in words)


class UlpNoise(TorchDispatchMode):
    """Multiplies every floating result of such an operator by 1 + U(-ulps, ulps); with `operands` also what a sum adds up: a result
    that cancels is off by ulps of its summands, in whatever order they are added."""

    def __init__(self, device: torch.device, seed: int, ulps: float = 1.0, names: tuple[str, ...] = SUMS, operands: bool = False):
        super().__init__()
        self._names, self._operands = names, operands
        self._generator = torch.Generator(device).manual_seed(seed)
        self._amplitude = ulps * _ULP

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        if self._operands and _named(func, SUMS):
            args = self._disturbed(func._schema.name, args)
        out = func(*args, **(kwargs or {}))
        if _named(func, self._names):
            first = out[0] if isinstance(out, (tuple, list)) else out  # statistics that come with a result are left alone
            if isinstance(first, torch.Tensor) and first.is_floating_point():
                first.add_(self._part_of(first))
        return out

    def _part_of(self, x: torch.Tensor) -> torch.Tensor:
        """Nothing of what is not finite: a mask's -inf plus a part of itself would be no number, and say so of whole rows."""
        part = x * torch.empty_like(x).uniform_(-self._amplitude, self._amplitude, generator=self._generator)
        return part.nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)

    def _disturbed(self, name: str, args: tuple) -> tuple:
        """One operand is enough: after addmm's and baddbmm's summand their first factor, else the first."""
        at = 1 if "addmm" in name or "baddbmm" in name else 0
        if len(args) <= at or not isinstance(args[at], torch.Tensor) or not args[at].is_floating_point():
            return args
        return (*args[:at], args[at] + self._part_of(args[at]), *args[at + 1:])


class Tf32Operands(TorchDispatchMode):
    """Rounds the operands of products to TF32 (10 explicit bits of mantissa), on any device."""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        if _named(func, _PRODUCTS):
            args = tuple(tf32(a) if isinstance(a, torch.Tensor) and a.dtype == torch.float32 and a.dim() >= 2 else a for a in args)
        return func(*args, **(kwargs or {}))


def tf32(x: torch.Tensor) -> torch.Tensor:
    """To nearest, ties away from zero, as cvt.rna does; NaN and infinities as they are."""
    bits = x.contiguous().view(torch.int32)
    rounded = ((bits + 0x1000) & ~0x1FFF).view(torch.float32)
    return torch.where(x.isfinite(), rounded, x)
