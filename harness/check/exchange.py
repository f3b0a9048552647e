"""The file in which outputs travel from the candidate worker to the reference worker (docs/protocol.md)."""
from __future__ import annotations

import json
import struct
from typing import Any

import torch

from model.failure import Failure
from model.inputs import dtype_name

MAGIC = b"KAGENT01"
_DTYPES = {dtype_name(d): d for d in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16,
                                       torch.int8, torch.uint8, torch.bool)}


def structure_of(value: Any, leaves: list[torch.Tensor]) -> Any:
    """The tree of an output, tensors replaced by their number; appends the tensors to `leaves`."""
    if isinstance(value, torch.Tensor):
        leaves.append(value)
        return {"t": len(leaves) - 1}
    if isinstance(value, (tuple, list)):
        return {"tuple" if isinstance(value, tuple) else "list": [structure_of(v, leaves) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[str(k), structure_of(v, leaves)] for k, v in value.items()]}
    return {"value": value if isinstance(value, (bool, int, float)) or value is None else repr(value)}


def structure_of_plan(tree: dict, counter: list[int]) -> Any:
    """The same tree of a plan's `outputs`: tensors are numbered in order."""
    if "t" in tree:
        counter[0] += 1
        return {"t": counter[0] - 1}
    for key in ("tuple", "list"):
        if key in tree:
            return {key: [structure_of_plan(child, counter) for child in tree[key]]}
    if "dict" in tree:
        return {"dict": [[k, structure_of_plan(child, counter)] for k, child in tree["dict"]]}
    return tree


def write(path: str, structure: Any, outputs: list[torch.Tensor], state: dict[str, torch.Tensor]) -> None:
    tensors = [(f"output {i}", t) for i, t in enumerate(outputs)] + [(f"state {name}", t) for name, t in state.items()]
    on_cpu = [(name, t.detach().to("cpu").contiguous()) for name, t in tensors]
    header, offset = [], 0
    for name, t in on_cpu:
        size = t.numel() * t.element_size()
        header.append({"name": name, "shape": list(t.shape), "dtype": dtype_name(t.dtype), "offset": offset, "bytes": size})
        offset += size
    head = json.dumps({"structure": structure, "tensors": header}).encode()
    with open(path, "wb") as f:
        f.write(MAGIC + struct.pack("<Q", len(head)) + head)
        for _, t in on_cpu:
            if t.numel():
                f.write(memoryview(t.reshape(-1).view(torch.uint8).numpy()))


def read(path: str) -> tuple[Any, dict[str, torch.Tensor]]:
    """(structure, tensors by name, on the CPU)."""
    with open(path, "rb") as f:
        if f.read(8) != MAGIC:
            raise Failure("internal", "bad_file", f"{path} is no exchange file")
        (length,) = struct.unpack("<Q", f.read(8))
        head = json.loads(f.read(length))
        data = bytearray(f.read())
    tensors = {}
    for t in head["tensors"]:
        dtype = _DTYPES[t["dtype"]]
        raw = torch.frombuffer(data, dtype=dtype, count=t["bytes"] // dtype.itemsize, offset=t["offset"]) if t["bytes"] else torch.empty(0, dtype=dtype)
        tensors[t["name"]] = raw.reshape(t["shape"])
    return head["structure"], tensors
