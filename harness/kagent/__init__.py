"""What `import kagent as kg` means in a host program (docs/answer_format.md). Calls are recorded by the tracer; nothing runs."""
from __future__ import annotations

from typing import Any, Sequence

import torch


class KagentError(Exception):
    """A wrong use of kg; the message says what to do."""


class Array:
    """Tensors and numbers passed by value as one struct."""

    def __init__(self, items: Sequence):
        if not isinstance(items, (list, tuple)):
            raise KagentError("kg.array takes a list of tensors and numbers")
        self.items = list(items)


class Strided:
    """A tensor whose strides the kernel knows."""

    def __init__(self, tensor: torch.Tensor):
        if not isinstance(tensor, torch.Tensor):
            raise KagentError("kg.strided takes a tensor")
        self.tensor = tensor


class Int64:
    def __init__(self, value: int):
        if not isinstance(value, int) or isinstance(value, bool) or not -(1 << 63) <= value < 1 << 63:
            raise KagentError(f"kg.int64 takes an integer of 64 bits, not {value!r:.80}")
        self.value = value


class Device:
    """Facts of the target GPU: name, arch, sm_count, shared_per_block, shared_per_sm, registers_per_sm, l2_bytes, memory_bytes, ..."""

    def __init__(self, facts: dict):
        self.__dict__.update(facts)

    def __getattr__(self, name: str):
        raise KagentError(f"kg.device has no {name}; it has {', '.join(sorted(vars(self)))}")


device = Device({})
_recorder: Any = None  # set by the tracer


def _active():
    if _recorder is None:
        raise KagentError("kg calls work inside prepare and forward only")
    return _recorder


def _three(value: Any, what: str) -> list[int]:
    numbers = [value] if isinstance(value, int) else list(value) if isinstance(value, (tuple, list, torch.Size)) else None
    if numbers is None or not 1 <= len(numbers) <= 3 or not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
        raise KagentError(f"{what} must be an int or a tuple of one to three ints, not {value!r}")
    if any(n < 1 for n in numbers):
        raise KagentError(f"{what} must be positive, not {value!r}")
    return numbers + [1] * (3 - len(numbers))


def launch(kernel: str, grid=None, block=None, args=(), shared: int = 0, cluster=None, cooperative: bool = False) -> None:
    """Launches a __global__ function of the CUDA block, or an instantiation of a template: "gemm<128, 64>"."""
    if not isinstance(kernel, str):
        raise KagentError("kg.launch: the kernel is named by a string")
    if grid is None or block is None:
        raise KagentError(f"kg.launch({kernel!r}): give grid= and block=")
    if not isinstance(args, (list, tuple)):
        raise KagentError(f"kg.launch({kernel!r}): args= is a list")
    if not isinstance(shared, int) or isinstance(shared, bool) or shared < 0:
        raise KagentError(f"kg.launch({kernel!r}): shared= is a number of bytes")
    _active().launch(kernel, _three(grid, f"kg.launch({kernel!r}): grid"), _three(block, f"kg.launch({kernel!r}): block"), list(args), shared,
                     None if cluster is None else _three(cluster, f"kg.launch({kernel!r}): cluster"), bool(cooperative))


def array(items: Sequence) -> Array:
    return Array(items)


def strided(tensor: torch.Tensor) -> Strided:
    return Strided(tensor)


def int64(value: int) -> Int64:
    """An 8-byte integer inside kg.array."""
    return Int64(value)


def constant(values, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A small literal table."""
    recorder = _active()
    if not isinstance(dtype, torch.dtype):
        raise KagentError(f"kg.constant: dtype= is a torch.dtype, not {dtype!r:.80}")
    try:
        return recorder.constant(values, dtype)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise KagentError(f"kg.constant takes numbers, or lists of them of equal lengths: {error!s:.200}") from error


def tag(name: str, tensor: torch.Tensor) -> torch.Tensor:
    if not isinstance(tensor, torch.Tensor):
        raise KagentError("kg.tag takes a name and a tensor")
    _active().tag(str(name), tensor)
    return tensor


def options(graph: bool | None = None, tf32: bool | None = None) -> None:
    _active().set_options(graph, tf32)


def __getattr__(name: str):
    raise KagentError(f"kagent has no {name}; it has launch, array, strided, int64, constant, tag, options and device")
