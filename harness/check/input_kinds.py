"""Inputs that no sniffing of a prefix, a sample or a distribution fits: structure put on top of what a seed draws."""

from __future__ import annotations

import math
from typing import Any, Callable

import torch

from model.failure import Failure

AS_DRAWN = "as_drawn"
_TILE = 4096
TOUCHES = 4  # draws that change one element, each in a quarter of its own
TOUCHED = tuple(f"touched_{k}" for k in range(TOUCHES))


def apply(kind: str, inputs: list[Any], seed: int) -> list[Any]:
    """Integers and what is no tensor stay as they are. Random numbers come from the generator of each tensor's own device."""
    if kind == AS_DRAWN:
        return inputs
    if kind not in _KINDS:
        raise Failure("internal", "bad_request", f"inputs: {kind!r:.80} is none of {', '.join(KINDS)}")
    generators: dict[torch.device, torch.Generator] = {}
    out = []
    for value in inputs:
        if _changeable(value):
            if value.device not in generators:
                generators[value.device] = torch.Generator(value.device).manual_seed(seed)
            value = _KINDS[kind](value.clone(memory_format=torch.contiguous_format), generators[value.device])
        out.append(value)
    return out


def _changeable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.dim() > 0 and value.numel() > 0


def _rows(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Every sample, and within it every row, has a scale of its own between 1/4 and 4, and a sign."""
    for axes in {1, max(1, x.dim() - 1)}:
        shape = [*x.shape[:axes], *([1] * (x.dim() - axes))]
        scale = torch.exp2(torch.empty(shape, device=x.device).uniform_(-1, 1, generator=generator))
        x = x * scale * _signs(shape, generator)
    return x


def _suffix(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A harmless prefix, then a last quarter x8; and the last quarter of every sample x2; both of either sign."""
    flat = x.view(-1)
    _scale_last_quarter(flat.view(1, -1), 8.0, generator)
    if x.dim() > 1:
        _scale_last_quarter(flat.view(x.shape[0], -1), 2.0, generator)
    return flat.view(x.shape)


def _scale_last_quarter(rows: torch.Tensor, factor: float, generator: torch.Generator) -> None:
    last = rows[:, rows.shape[1] - rows.shape[1] // 4:]
    last *= factor * _signs(last.shape, generator)


def _integers(low: int, high: int, shape: Any, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=generator, device=generator.device)


def _signs(shape: Any, generator: torch.Generator) -> torch.Tensor:
    return _integers(0, 2, shape, generator) * 2 - 1


def _offset(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Far from zero for its spread: what forgets to subtract a mean or a maximum shows."""
    return x + 5.0


def _far(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """So far from zero that an exponential without its maximum overflows."""
    return x + 100.0


def _ramp(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A slope along every axis: an index that is swapped or broadcast along the wrong axis shows."""
    for axis, size in enumerate(x.shape):
        slope = torch.linspace(-1, 1, size, device=x.device) if size > 1 else torch.zeros(1, device=x.device)
        x = x + (axis + 1) / 2 * slope.view([-1 if i == axis else 1 for i in range(x.dim())])
    return x


def _outliers(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One large element at a random place of every 4096: work on a sample of the elements shows."""
    flat = x.view(-1)
    tiles = (flat.numel() + _TILE - 1) // _TILE
    at = torch.arange(tiles, device=x.device) * _TILE + _integers(0, _TILE, (tiles,), generator)
    at = at[at < flat.numel()] if int((at < flat.numel()).sum()) else _integers(0, flat.numel(), (1,), generator)
    flat[at] = 30.0 * _signs((at.numel(),), generator).to(flat.dtype)
    return flat.view(x.shape)


def _near_one(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """In the middle half of the samples (of the elements, where there is one sample) numbers round 1, so that long products live;
    the rest as drawn, so that neither a prefix nor a suffix tells. Where the half begins is random."""
    rows = x if x.dim() > 1 and x.shape[0] > 1 else x.view(-1)
    count = rows.shape[0]
    eighth = count // 8
    begin = max(1, count // 4 + int(_integers(-eighth, eighth + 1, (), generator))) if count > 1 else 0
    part = rows[begin:begin + max(1, count // 2)]
    part.copy_(1 + (part - part.mean()) / 64)
    return x


def _touched(quarter: int) -> Callable[[torch.Tensor, torch.Generator], torch.Tensor]:
    def touch(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        touch_one(x, quarter, generator, keep_sign=quarter == 2)
        return x
    return touch


def touch_one(x: torch.Tensor, quarter: int, generator: torch.Generator, keep_sign: bool) -> None:
    """In place: one element, at a random place of that quarter of x, becomes far larger, as a rule of the other sign. A program that
    asks some places how the rest looks must ask in every quarter, and hit the place in each, to be told of it."""
    flat = x.view(-1)
    size = flat.numel()
    begin, end = size * quarter // TOUCHES, max(size * (quarter + 1) // TOUCHES, size * quarter // TOUCHES + 1)
    at = min(begin + int(_integers(0, end - begin, (), generator)), size - 1)
    scale = float(torch.linalg.vector_norm(flat)) / math.sqrt(max(size, 1))
    old = float(flat[at])
    sign = -1.0 if old < 0 else 1.0
    flat[at] = (sign if keep_sign else -sign) * (abs(old) + 16 * (scale if 0 < scale < math.inf else 1.0))


_KINDS: dict[str, Callable[[torch.Tensor, torch.Generator], torch.Tensor]] = {
    "rows": _rows, "suffix": _suffix, "offset": _offset, "far": _far, "ramp": _ramp, "outliers": _outliers,
    "near_one": _near_one, **{name: _touched(quarter) for quarter, name in enumerate(TOUCHED)}}
KINDS = (AS_DRAWN, *_KINDS)
