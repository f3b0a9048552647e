"""Inputs that no sniffing of a prefix, a sample or a distribution fits: structure put on top of what a seed draws."""

from __future__ import annotations

from typing import Any, Callable

import torch

from model.failure import Failure

AS_DRAWN = "as_drawn"
_TILE = 4096


def apply(kind: str, inputs: list[Any], seed: int) -> list[Any]:
    """Of CPU tensors; integers and what is no tensor stay as they are."""
    if kind == AS_DRAWN:
        return inputs
    if kind not in _KINDS:
        raise Failure("internal", "bad_request", f"inputs: {kind!r:.80} is none of {', '.join(KINDS)}")
    generator = torch.Generator().manual_seed(seed)
    return [_KINDS[kind](value.clone(), generator) if _changeable(value) else value for value in inputs]


def _changeable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.dim() > 0 and value.numel() > 0


def _rows(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Every sample, and within it every row, has a scale of its own between 1/4 and 4, and a sign."""
    for axes in {1, max(1, x.dim() - 1)}:
        shape = [*x.shape[:axes], *([1] * (x.dim() - axes))]
        scale = torch.exp2(torch.empty(shape).uniform_(-1, 1, generator=generator))
        x = x * scale * (torch.randint(0, 2, shape, generator=generator) * 2 - 1)
    return x


def _suffix(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A harmless prefix, then a last quarter x8; and the last quarter of every sample x2; both of either sign."""
    flat = x.contiguous().view(-1)
    _scale_last_quarter(flat.view(1, -1), 8.0, generator)
    if x.dim() > 1:
        _scale_last_quarter(flat.view(x.shape[0], -1), 2.0, generator)
    return flat.view(x.shape)


def _scale_last_quarter(rows: torch.Tensor, factor: float, generator: torch.Generator) -> None:
    last = rows[:, rows.shape[1] - rows.shape[1] // 4:]
    last *= factor * (torch.randint(0, 2, last.shape, generator=generator) * 2 - 1)


def _offset(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Far from zero for its spread: what forgets to subtract a mean or a maximum shows."""
    return x + 5.0


def _far(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """So far from zero that an exponential without its maximum overflows."""
    return x + 100.0


def _ramp(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A slope along every axis: an index that is swapped or broadcast along the wrong axis shows."""
    for axis, size in enumerate(x.shape):
        slope = torch.linspace(-1, 1, size) if size > 1 else torch.zeros(1)
        x = x + (axis + 1) / 2 * slope.view([-1 if i == axis else 1 for i in range(x.dim())])
    return x


def _outliers(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One large element at a random place of every 4096: work on a sample of the elements shows."""
    flat = x.contiguous().view(-1)
    tiles = (flat.numel() + _TILE - 1) // _TILE
    at = torch.arange(tiles) * _TILE + torch.randint(0, _TILE, (tiles,), generator=generator)
    at = at[at < flat.numel()] if int((at < flat.numel()).sum()) else torch.randint(0, flat.numel(), (1,), generator=generator)
    flat[at] = 30.0 * (torch.randint(0, 2, (at.numel(),), generator=generator) * 2 - 1).to(flat.dtype)
    return flat.view(x.shape)


_KINDS: dict[str, Callable[[torch.Tensor, torch.Generator], torch.Tensor]] = {
    "rows": _rows, "suffix": _suffix, "offset": _offset, "far": _far, "ramp": _ramp, "outliers": _outliers}
KINDS = (AS_DRAWN, *_KINDS)
