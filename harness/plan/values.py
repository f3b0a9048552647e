"""Values of a plan's steps: between Python and the JSON of docs/plan.md."""
from __future__ import annotations

import math
from typing import Any, Callable

import torch

DTYPES = {str(d).removeprefix("torch."): d for d in (
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)}
LAYOUTS = {"strided": torch.strided}
MEMORY_FORMATS = {str(f).removeprefix("torch."): f for f in (
    torch.contiguous_format, torch.channels_last, torch.channels_last_3d, torch.preserve_format)}


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def encode(value: Any, tensor_id: Callable[[torch.Tensor], int]) -> Any:
    """Raises TypeError for a value that a plan cannot hold."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if isinstance(value, torch.Tensor):
        return {"t": tensor_id(value)}
    if isinstance(value, (list, tuple)):
        return [encode(v, tensor_id) for v in value]
    if isinstance(value, torch.dtype):
        return {"dtype": dtype_name(value)}
    if isinstance(value, torch.device):
        return {"device": "cuda"}
    if isinstance(value, torch.layout):
        return {"layout": str(value).removeprefix("torch.")}
    if isinstance(value, torch.memory_format):
        return {"memory_format": str(value).removeprefix("torch.")}
    raise TypeError(f"a plan cannot hold a value of type {type(value).__name__}")


def decode(value: Any, tensor: Callable[[int], torch.Tensor]) -> Any:
    """The inverse, on untrusted JSON. Raises ValueError."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [decode(v, tensor) for v in value]
    if isinstance(value, dict) and len(value) == 1:
        (key, inner), = value.items()
        if key == "t":
            return tensor(inner)
        if key == "float" and inner in ("inf", "-inf", "nan"):
            return float(inner)
        if key == "device" and inner == "cuda":
            return torch.device("cuda")
        for name, table in (("dtype", DTYPES), ("layout", LAYOUTS), ("memory_format", MEMORY_FORMATS)):
            if key == name and isinstance(inner, str) and inner in table:
                return table[inner]
    raise ValueError(f"not a value of a plan: {str(value)[:80]}")
