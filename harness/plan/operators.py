"""The operators a plan may use: operators.txt, the same list that the C++ validator reads."""
from __future__ import annotations

import functools
import os


@functools.cache
def allowed() -> frozenset[str]:
    """Schema names: "aten::conv2d", "aten::add.Tensor"."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "operators.txt"), encoding="utf-8") as f:
        lines = (line.split("#")[0].strip() for line in f)
        return frozenset(line for line in lines if line)


def schema_name(func) -> str:
    """An OpOverload's name as the plan writes it: the default overload has no dot."""
    name = func._schema.name
    return f"{name}.{func._schema.overload_name}" if func._schema.overload_name else name
