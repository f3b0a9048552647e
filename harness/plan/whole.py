"""Calls an operator of a plan on tensors without data, where torch alone would do it otherwise than on the GPU."""
from __future__ import annotations

from typing import Any

from plan import attention, rnn
from plan.arguments import in_order


def call(func: Any, name: str, args: list, kwargs: dict) -> Any:
    """What `func`, the operator of this name, returns. Call it under the fake mode."""
    if name in rnn.NAMES:
        return rnn.results(name, in_order(func, args, kwargs))
    if name == attention.NAME:
        return attention.results(func, args, kwargs)
    return func(*args, **kwargs)
