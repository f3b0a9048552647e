"""scaled_dot_product_attention's result has the layout of the kernel that torch will choose on the GPU, and torch asks the GPU which. A
process without one would claim another layout: the tracer is such a process. So the choice is restated here (torch 2.11,
sdp_utils.cpp, fp32: the memory-efficient kernel where it can run, else plain matrix products). A wrong claim costs a copy, no more:
the executor lays out what differs."""
from __future__ import annotations

from typing import Any

import torch

NAME = "aten::scaled_dot_product_attention"
_ALIGNMENT = 4  # fp32 elements a head's width must be a multiple of


def results(func: Any, args: list, kwargs: dict) -> torch.Tensor:
    """The result, fresh, under the fake mode. Raises what the operator itself raises."""
    plain = func(*args, **kwargs)
    query, key, value = args[:3]
    gqa = kwargs.get("enable_gqa", args[7] if len(args) > 7 else False)
    if gqa or not _memory_efficient(query, key, value):
        return torch.empty(plain.shape, dtype=plain.dtype, device=plain.device)
    batch, heads, length, width = plain.shape
    return torch.empty((batch, length, heads, width), dtype=plain.dtype, device=plain.device).transpose(1, 2)


def _memory_efficient(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> bool:
    tensors = (query, key, value)
    return (query.dtype == torch.float32 and all(t.dim() == 4 for t in tensors)
            and all(t.shape[:2] == query.shape[:2] and t.shape[2] > 0 for t in tensors)
            and all(t.shape[3] % _ALIGNMENT == 0 and t.shape[3] > 0 and t.stride(3) == 1 for t in tensors))
