"""The rules an outcome is held to, one a function. A rule returns None when it holds and else why not, in one line."""

from __future__ import annotations

import torch

from check.numbers import Numbers
from check.structure import Tree, in_words
from model.inputs import dtype_name


def same_structure(got: Tree, want: Tree) -> str | None:
    """tuple is not list, one tensor is not a tuple of one, dict keys and their order count, True is not 1."""
    if _identical(got, want):
        return None
    return f"forward must return {in_words(want)}, as the reference does; it returns {in_words(got)}"


def same_shape(name: str, got: torch.Tensor, want: torch.Tensor) -> str | None:
    """Equal, never merely broadcastable."""
    if got.shape == want.shape:
        return None
    return f"{name} has shape {list(got.shape)}, the reference's has {list(want.shape)}"


def same_dtype(name: str, got: torch.Tensor, want: torch.Tensor) -> str | None:
    if got.dtype == want.dtype:
        return None
    return f"{name} has dtype {dtype_name(got.dtype)}, the reference's has {dtype_name(want.dtype)}"


def values_close(name: str, numbers: Numbers, tolerance: float) -> str | None:
    if numbers.violations == 0:
        return None
    extra = f", {numbers.nan} NaN" if numbers.nan else ""
    worst = f"worst at {numbers.worst_index}: {numbers.worst_got} instead of {numbers.worst_want}"
    outside = f"{numbers.violations} of {numbers.elements} elements outside tolerance {tolerance:g}"
    return f"{name}: {outside}{extra}, {worst}"


def same_state_names(got: list[str], want: list[str]) -> str | None:
    """Buffers and plain tensors are always there; "input 0" or "parameter w" only when the call wrote to it."""
    missing = [name for name in want if name not in got]
    added = [name for name in got if name not in want]
    if added:
        return f"the call writes to {', '.join(added[:5])}, which the reference leaves as it is"
    return f"the call leaves {', '.join(missing[:5])} as it is, which the reference updates" if missing else None


def _identical(a: object, b: object) -> bool:
    """Equality that tells True from 1 and 1 from 1.0, and lets a NaN literal equal itself."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(_identical(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(_identical(x, y) for x, y in zip(a, b))
    return a == b or (a != a and b != b)
