"""How far two tensors of one shape and dtype are apart, in chunks, so that large outputs need little memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch

_CHUNK = 1 << 24  # elements


@dataclass
class Numbers:
    elements: int = 0
    violations: int = 0
    max_abs: float = 0.0  # over positions where both are finite
    max_rel: float = 0.0  # the same, relative to a reference value that is not zero
    nan: int = 0          # in what was got
    inf: int = 0
    bitwise: bool = True
    worst_index: list[int] = field(default_factory=list)  # the element furthest outside (or nearest to) the tolerance
    worst_got: Any = None
    worst_want: Any = None


def within_tolerance(got: torch.Tensor, want: torch.Tensor, tolerance: float) -> torch.Tensor:
    """Elementwise. The official rule as it stands (torch.allclose(reference, candidate): the tolerance grows with the
    candidate's magnitude) and the same with the reference's, in double: never looser than either. NaN never passes,
    an infinity only in place and with its sign."""
    official = torch.isclose(want, got, rtol=tolerance, atol=tolerance, equal_nan=False)
    wide_got, wide_want = got.double(), want.double()
    near = (wide_got - wide_want).abs() <= tolerance + tolerance * wide_want.abs()
    same_infinity = want.isinf() & (got == want)
    return official & ((near & want.isfinite()) | same_infinity)


def compare_numbers(got: torch.Tensor, want: torch.Tensor, tolerance: float) -> Numbers:
    """`got` (any device) against `want`; they have equal shapes and dtypes. Integers and bools must be equal."""
    if want.is_complex():
        got, want = torch.view_as_real(got.resolve_conj()), torch.view_as_real(want.resolve_conj())
    numbers = Numbers(elements=want.numel())
    flat_got, flat_want = got.reshape(-1), want.reshape(-1)
    worst = -math.inf
    for begin in range(0, want.numel(), _CHUNK):
        w = flat_want[begin:begin + _CHUNK]
        g = flat_got[begin:begin + _CHUNK].to(w.device)
        numbers.bitwise &= _same_bits(g, w)
        score = _floating(numbers, g, w, tolerance) if w.is_floating_point() else _exact(numbers, g, w)
        at = int(score.argmax())
        if float(score[at]) > worst:
            worst = float(score[at])
            numbers.worst_index = _unravel(begin + at, want.shape)
            numbers.worst_got, numbers.worst_want = _number(g[at]), _number(w[at])
    return numbers


def _floating(numbers: Numbers, got: torch.Tensor, want: torch.Tensor, tolerance: float) -> torch.Tensor:
    """Adds a chunk; returns how far each element is outside its tolerance (infinite where no number says)."""
    ok = within_tolerance(got, want, tolerance)
    numbers.violations += int((~ok).sum())
    numbers.nan += int(got.isnan().sum())
    numbers.inf += int(got.isinf().sum())
    difference = (got.double() - want.double()).abs()
    magnitude = want.double().abs()
    finite = got.isfinite() & want.isfinite()
    numbers.max_abs = max(numbers.max_abs, _max(difference, finite))
    numbers.max_rel = max(numbers.max_rel, _max(difference / magnitude, finite & (magnitude > 0)))
    score = difference - (tolerance + tolerance * magnitude)
    score = torch.where(finite, score, torch.where(ok, -math.inf, math.inf))
    return torch.where(ok, score.clamp(max=0.0), score)


def _exact(numbers: Numbers, got: torch.Tensor, want: torch.Tensor) -> torch.Tensor:
    numbers.violations += int((got != want).sum())
    difference = (got.double() - want.double()).abs()
    numbers.max_abs = max(numbers.max_abs, float(difference.max()))
    magnitude = want.double().abs()
    numbers.max_rel = max(numbers.max_rel, _max(difference / magnitude, magnitude > 0))
    # Integers beyond 2^53 may differ by less than a double shows.
    return torch.where((got != want) & (difference == 0), 0.5, difference)


def _max(values: torch.Tensor, where: torch.Tensor) -> float:
    largest = float(torch.where(where, values, 0.0).max())
    return largest if math.isfinite(largest) else torch.finfo(torch.float64).max


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.contiguous().view(torch.uint8), b.contiguous().view(torch.uint8))


def _unravel(index: int, shape: torch.Size) -> list[int]:
    out = []
    for size in reversed(shape):
        out.append(index % size)
        index //= size
    return out[::-1]


def _number(value: torch.Tensor) -> Any:
    """A JSON number, or "nan", "inf", "-inf", which JSON cannot write."""
    number = value.item()
    return number if not isinstance(number, float) or math.isfinite(number) else str(number)
