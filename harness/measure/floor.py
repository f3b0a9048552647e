"""The least time that a call of the reference could take on this GPU: what must come from memory or go there, at the memory's full
speed, less what the L2 could hold back. No run is faster; one that seems to be was not timed as kagent believes.

Bytes that must move: the outputs, once. Inputs and parameters too, three quarters of them, where every operator of the reference reads
all that it is given: then none can be left out. A single operator that picks (an index, a slice, an embedding) could leave any of
them unread, and nothing but the outputs is counted."""

from __future__ import annotations

from typing import Any

from measure.driver import Driver
from plan.tensors import read_storages, size_bytes, tensor_ids

# CUdevice_attribute numbers (cuda.h).
_MEMORY_CLOCK_KHZ, _BUS_BITS, _L2_BYTES = 36, 37, 38
# Each element of each operand moves the result (strides that leave out rows at an edge are what the quarter is for). Sums and means
# are not here: what they make of a softmax or a norm may be a constant, which an honest answer may know.
_READS_ALL = frozenset(
    "linear matmul mm bmm addmm baddbmm relu relu_ gelu silu sigmoid tanh softplus elu selu leaky_relu mish softmax log_softmax add add_ "
    "sub mul mul_ div neg exp abs pow sqrt batch_norm layer_norm view reshape flatten transpose t permute "
    "contiguous unsqueeze squeeze _to_copy clone dropout cat stack lstm gru rnn_tanh rnn_relu scaled_dot_product_attention avg_pool2d "
    "adaptive_avg_pool2d hardswish hardsigmoid".split())
_COUNTED_SHARE = 0.75


def peak_bytes_per_s(gpu: Driver) -> int:
    """At the highest memory clock: no real run reaches it."""
    return 2 * gpu.attribute(_MEMORY_CLOCK_KHZ) * 1000 * gpu.attribute(_BUS_BITS) // 8  # two transfers a clock


def floor_ms(bytes_moved: float, gpu: Driver) -> float:
    peak = peak_bytes_per_s(gpu)
    return 1000 * max(0.0, bytes_moved - gpu.attribute(_L2_BYTES)) / peak if peak else 0.0


def least_bytes(plan: dict[str, Any]) -> float:
    """Of a reference's plan."""
    tensors = plan["tensors"]
    sources = set(tensor_ids(plan["inputs"])) | {t for kind in ("parameters", "buffers", "state") for _, t in plan[kind]}
    sources |= {constant["t"] for constant in plan["constants"]}
    written = {tensors[t]["storage"]: min(size_bytes(tensors[t]), size_bytes(tensors[tensors[t]["storage"]])) for t in tensor_ids(plan["outputs"])}
    out = sum(size for storage, size in written.items() if storage not in sources)
    if not all(_reads_all(step, plan) for step in plan["forward"]):
        return out
    read = read_storages(plan)
    named = set(tensor_ids(plan["inputs"])) | {t for _, t in plan["parameters"]}
    return out + _COUNTED_SHARE * sum(size_bytes(tensors[t]) for t in read & named)


def _reads_all(step: dict[str, Any], plan: dict[str, Any]) -> bool:
    name = step.get("op", "").removeprefix("aten::").partition(".")[0]
    if name in ("conv1d", "conv2d", "conv3d"):
        window = plan["tensors"][step["args"][1]["t"]]["shape"][2:]
        return _overlaps(window, step["args"][3] if len(step["args"]) > 3 else 1)
    if name in ("max_pool1d", "max_pool2d", "max_pool3d"):
        window = step["args"][1]
        stride = step["args"][2] if len(step["args"]) > 2 else []
        return _overlaps(window if isinstance(window, list) else [window], stride or window)
    return name in _READS_ALL


def _overlaps(window: list[int], stride: Any) -> bool:
    """No element lies between two windows."""
    strides = stride if isinstance(stride, list) else [stride]
    strides = strides * len(window) if len(strides) == 1 else strides
    numbers = all(isinstance(n, int) for n in window + strides)
    return numbers and len(strides) == len(window) and all(s <= w for s, w in zip(strides, window))
