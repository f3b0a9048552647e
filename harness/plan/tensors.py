"""Reading a plan as JSON (docs/plan.md): which tensors a part of it names, and how large they are."""

from __future__ import annotations

import math
from typing import Any, Iterator

_BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1, "bool": 1}


def tensor_ids(tree: Any) -> Iterator[int]:
    """Of every {"t": id} within, in order, repeats included."""
    if isinstance(tree, dict):
        if isinstance(tree.get("t"), int):
            yield tree["t"]
        else:
            for child in tree.values():
                yield from tensor_ids(child)
    elif isinstance(tree, (list, tuple)):
        for child in tree:
            yield from tensor_ids(child)


def size_bytes(tensor: dict[str, Any]) -> int:
    """Of an entry of the plan's "tensors"."""
    return math.prod(tensor["shape"]) * _BYTES[tensor["dtype"]]


def read_storages(plan: dict[str, Any]) -> set[int]:
    """What the arguments of forward's steps name."""
    return {plan["tensors"][t]["storage"] for step in plan["forward"] for t in tensor_ids([step["args"], step.get("kwargs", {})])}
