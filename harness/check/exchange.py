"""The file that carries outputs and state from the candidate worker to the reference worker (docs/protocol.md).

8 bytes "KAGENT01", 8 bytes little-endian header length, a JSON header
{"structure": tree, "tensors": [{"name", "shape", "dtype", "offset", "bytes"}], "outputs": n}, then raw contiguous
tensors, each at `offset` (a multiple of 64) from the start of the file. The first n tensors are the outputs in the
order of the tree, the rest is the state by qualified name."""

from __future__ import annotations

import functools
import json
import math
import mmap
import os
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

import torch

from check.structure import Tree
from model.failure import Failure
from model.inputs import dtype_name

MAGIC = b"KAGENT01"
_ALIGN = 64
_MOST_HEADER_BYTES = 16 << 20
_CHUNK_BYTES = 64 << 20
_DTYPES = {dtype_name(dtype): dtype for dtype in (
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
    torch.uint8, torch.bool, torch.complex64, torch.complex128)}


@dataclass
class Outcome:
    """What a run left: tensors on any device (read back: views of the mapped file, on the CPU)."""
    structure: Tree
    outputs: list[torch.Tensor]
    state: dict[str, torch.Tensor]


def write_outcome(path: str, outcome: Outcome) -> None:
    tensors = [(f"output {i}", tensor) for i, tensor in enumerate(outcome.outputs)] + list(outcome.state.items())
    entries = [_entry(name, tensor) for name, tensor in tensors]
    header = {"structure": outcome.structure, "tensors": entries, "outputs": len(outcome.outputs)}
    # The header's own length moves the offsets: leave room for them once, then fill them in.
    offset = _aligned(len(MAGIC) + 8 + len(json.dumps(header)) + 20 * len(entries))
    for entry in entries:
        entry["offset"] = offset
        offset = _aligned(offset + entry["bytes"])
    text = json.dumps(header).encode()
    with _opened(path) as file:
        file.write(MAGIC + struct.pack("<Q", len(text)) + text)
        for entry, (_, tensor) in zip(entries, tensors):
            _fill(file, entry["offset"])
            _write_tensor(file, tensor)
        _fill(file, offset)
        file.truncate()


def read_outcome(path: str) -> Outcome:
    """Raises Failure (internal, bad_file) for anything but a whole, consistent file."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < len(MAGIC) + 8:
                raise _bad(path, "too short")
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except OSError as error:
        raise _bad(path, error.strerror or str(error)) from error
    if data[:8] != MAGIC:
        raise _bad(path, "no KAGENT01 at its start")
    (length,) = struct.unpack("<Q", data[8:16])
    if length > min(size - 16, _MOST_HEADER_BYTES):
        raise _bad(path, "its header is longer than it is")
    try:
        header = json.loads(data[16:16 + length])
        tensors = [(str(entry["name"]), _view(data, size, entry)) for entry in header["tensors"]]
        outputs = int(header["outputs"])
        structure = header["structure"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _bad(path, f"its header is wrong ({error})") from error
    if not 0 <= outputs <= len(tensors) or not isinstance(structure, dict):
        raise _bad(path, "its header is wrong (outputs)")
    return Outcome(structure, [tensor for _, tensor in tensors[:outputs]], dict(tensors[outputs:]))


def _entry(name: str, tensor: torch.Tensor) -> dict[str, Any]:
    return {"name": name, "shape": list(tensor.shape), "dtype": dtype_name(tensor.dtype), "offset": 0,
            "bytes": tensor.numel() * tensor.element_size()}


def _opened(path: str) -> BinaryIO:
    """A file that is there is written over, not anew: its pages of memory are."""
    try:
        return open(path, "r+b")
    except FileNotFoundError:
        return open(path, "wb")


def _fill(file: BinaryIO, offset: int) -> None:
    """Zeros up to there: equal outcomes are equal files, whatever stood there before."""
    file.write(bytes(offset - file.tell()))


def _write_tensor(file: BinaryIO, tensor: torch.Tensor) -> None:
    flat = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    for begin in range(0, flat.numel(), _CHUNK_BYTES):
        chunk = flat[begin:begin + _CHUNK_BYTES]
        file.write(memoryview(_on_host(chunk).numpy()))


def _on_host(chunk: torch.Tensor) -> torch.Tensor:
    """Of at most _CHUNK_BYTES; good until the next call."""
    if not chunk.is_cuda:
        return chunk
    return _staging()[:chunk.numel()].copy_(chunk)


@functools.cache
def _staging() -> torch.Tensor:
    """Page-locked: a copy from the device into it is several times as fast."""
    return torch.empty(_CHUNK_BYTES, dtype=torch.uint8, pin_memory=True)


def _view(data: mmap.mmap, size: int, entry: dict[str, Any]) -> torch.Tensor:
    shape, dtype = [int(n) for n in entry["shape"]], _DTYPES[entry["dtype"]]
    offset, count = int(entry["offset"]), math.prod(shape)
    if min(shape, default=0) < 0 or offset < 16 or count * dtype.itemsize != entry["bytes"] or \
            offset + entry["bytes"] > size:
        raise ValueError(f"tensor {entry['name']} lies outside the file")
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(data, dtype=dtype, count=count, offset=offset).view(shape)


def _aligned(n: int) -> int:
    return (n + _ALIGN - 1) // _ALIGN * _ALIGN


def _bad(path: str, why: str) -> Failure:
    return Failure("internal", "bad_file", f"the outputs file {path} cannot be used: {why}")
