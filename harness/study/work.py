"""Floating-point operations and least memory traffic of a reference, counted on its plan (the null plan).

Only matrix products, convolutions, attention and recurrent nets are counted: 2 operations a multiply-add. Element-wise work, normalisation and
softmax are bound by memory. Least bytes: every input, parameter and buffer that a step reads, once, and every output and changed
buffer, once; what flows between steps could stay on the chip.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

from plan.tensors import read_storages, size_bytes, tensor_ids
from plan.writes import STATISTICS


def work(plan: dict[str, Any]) -> dict[str, Any]:
    """{"flops": {"convolution", "matmul", "recurrent"}, "bytes"}."""
    flops = {"convolution": 0, "matmul": 0, "recurrent": 0}
    for step in plan["forward"]:
        kind, count = _COUNTERS.get(_base(step), (None, None))
        if kind:
            flops[kind] += count(plan, step)
    return {"flops": flops, "bytes": least_bytes(plan)}


def least_bytes(plan: dict[str, Any]) -> int:
    tensors = plan["tensors"]
    sources = set(tensor_ids([plan["inputs"], [ref for _, ref in _named(plan)]]))
    read = read_storages(plan)
    changed, known = set(), set(sources)
    for step in plan["forward"]:
        made = set(tensor_ids(step.get("results", [])))
        changed |= {tensors[t]["storage"] for t in made & known} & sources  # a result that was there before was written in place
        known |= made
        positions, flag = STATISTICS.get(step.get("op", ""), ((), 0))
        if positions and step["args"][flag]:
            changed |= {tensors[t]["storage"] for t in tensor_ids([step["args"][i] for i in positions])} & sources
    outputs = {tensors[t]["storage"] for t in tensor_ids(plan["outputs"])}
    return sum(size_bytes(tensors[t]) for group in (read & sources, changed, outputs) for t in group)


def _named(plan: dict[str, Any]) -> Iterator[tuple[str, dict[str, int]]]:
    for kind in ("parameters", "buffers", "state"):
        for name, t in plan[kind]:
            yield name, {"t": t}


def _base(step: dict[str, Any]) -> str:
    return step.get("op", "").partition(".")[0]


def _shape(plan: dict[str, Any], ref: Any) -> list[int]:
    return plan["tensors"][ref["t"]]["shape"]


def _result(plan: dict[str, Any], step: dict[str, Any]) -> int:
    return math.prod(_shape(plan, step["results"][0]))


def _convolution(plan: dict, step: dict) -> int:
    """Weight (out, in / groups, kernel...)."""
    return 2 * _result(plan, step) * math.prod(_shape(plan, step["args"][1])[1:])


def _transposed_convolution(plan: dict, step: dict) -> int:
    """Weight (in, out / groups, kernel...)."""
    return 2 * math.prod(_shape(plan, step["args"][0])) * math.prod(_shape(plan, step["args"][1])[1:])


def _product(operand: int) -> Callable[[dict, dict], int]:
    """The inner dimension is the last of this operand."""
    return lambda plan, step: 2 * _result(plan, step) * _shape(plan, step["args"][operand])[-1]


def _attention(plan: dict, step: dict) -> int:
    query, key, value = (_shape(plan, ref) for ref in step["args"][:3])
    return 2 * math.prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


def _recurrent(plan: dict, step: dict) -> int:
    """Every weight matrix is applied once a time step and sample."""
    x = _shape(plan, step["args"][0])
    weights = [_shape(plan, ref) for ref in step["args"][2]]
    return 2 * x[0] * x[1] * sum(math.prod(w) for w in weights if len(w) == 2)


def _einsum(plan: dict, step: dict) -> int:
    """Pairs from left to right, as torch contracts them."""
    equation, operands = step["args"][0].replace(" ", ""), [_shape(plan, ref) for ref in step["args"][1]]
    terms, _, output = equation.partition("->")
    labels = terms.split(",")
    size = {label: n for term, shape in zip(labels, operands) for label, n in zip(term, shape)}
    total, current = 0, set(labels[0])
    for i, term in enumerate(labels[1:], start=1):
        total += 2 * math.prod(size[label] for label in current | set(term))
        current = (current | set(term)) & (set(output) | {label for later in labels[i + 1:] for label in later})
    return total


_COUNTERS: dict[str, tuple[str, Callable[[dict, dict], int]]] = {
    **{f"aten::conv{n}d": ("convolution", _convolution) for n in (1, 2, 3)},
    **{f"aten::conv_transpose{n}d": ("convolution", _transposed_convolution) for n in (1, 2, 3)},
    "aten::linear": ("matmul", _product(0)), "aten::matmul": ("matmul", _product(0)), "aten::mm": ("matmul", _product(0)),
    "aten::bmm": ("matmul", _product(0)), "aten::addmm": ("matmul", _product(1)), "aten::baddbmm": ("matmul", _product(1)),
    "aten::einsum": ("matmul", _einsum), "aten::scaled_dot_product_attention": ("matmul", _attention),
    **{f"aten::{name}": ("recurrent", _recurrent) for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")},
}
