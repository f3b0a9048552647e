"""Wrong versions of a reference, as cheats and mistakes would leave it: each drops, shrinks, blurs or forgets one thing.

A mutant changes what one step of the reference's plan gives, or one parameter that it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterator

import torch

from study.interpret import Change, Interpreter

_PRODUCTS = ("conv", "linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "einsum", "scaled_dot_product_attention", "lstm", "gru", "rnn")
_SEQUENCES = ("lstm", "gru", "rnn_tanh", "rnn_relu")
Result = Any


@dataclass
class Mutant:
    name: str  # "step 12 aten::relu: identity"
    change: Change | None = None
    replace: dict[str, Callable] | None = None

    def run(self, interpreter: Interpreter, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        return interpreter.run(inputs, self.change, self.replace)


def mutants(plan: dict[str, Any], most: int) -> list[Mutant]:
    """At most `most`, evenly over kinds and steps."""
    by_kind: dict[str, list[Mutant]] = {}
    for kind, mutant in [*_of_steps(plan), *_of_parameters(plan)]:
        by_kind.setdefault(kind, []).append(mutant)
    share = max(1, most // max(1, len(by_kind)))
    return [mutant for group in by_kind.values() for mutant in _evenly(group, share)]


def _evenly(group: list[Mutant], count: int) -> list[Mutant]:
    return group if len(group) <= count else [group[i * len(group) // count] for i in range(count)]


def _of_steps(plan: dict[str, Any]) -> Iterator[tuple[str, Mutant]]:
    tensors = plan["tensors"]
    known = set()
    for i, step in enumerate(plan["forward"]):
        result = step["results"][0] if step["results"] else None
        if not isinstance(result, dict) or result["t"] in known or tensors[result["t"]]["storage"] != result["t"]:
            continue  # views and in-place operators: what they give is made elsewhere
        known.add(result["t"])
        facts = tensors[result["t"]]
        if not facts["dtype"].startswith("float"):
            continue
        op = step["op"].removeprefix("aten::").partition(".")[0]
        for kind, function in _kinds(op, step, facts, tensors):
            yield kind, Mutant(f"step {i} {step['op']}: {kind}", change=_only(i, function))


def _kinds(op: str, step: dict[str, Any], facts: dict[str, Any], tensors: list[dict[str, Any]]) -> Iterator[tuple[str, Callable]]:
    same = [a["t"] for a in step["args"] if isinstance(a, dict) and "t" in a and tensors[a["t"]]["shape"] == facts["shape"]
            and tensors[a["t"]]["dtype"] == facts["dtype"]]
    if same and op not in ("clone", "contiguous"):
        yield "identity", lambda func, args, made: _like(next(a for a in args if isinstance(a, torch.Tensor) and a.shape == made.shape), made)
    if facts["shape"] and facts["shape"][0] > 1:
        yield "one sample for all", lambda func, args, made: made[:1].expand_as(made).clone()
    if op in _PRODUCTS or op.startswith("conv"):
        yield "operands in bfloat16", lambda func, args, made: func(*[_blurred(a) for a in args])
    if op == "softmax" or op == "_softmax":
        yield "mean for softmax", lambda func, args, made: made.mean(args[1], keepdim=True).expand_as(made).clone()
    if op == "scaled_dot_product_attention":
        yield "mean for softmax", lambda func, args, made: args[2].mean(-2, keepdim=True).expand_as(made).clone()
    if op in _SEQUENCES:
        yield "the last eighth of the sequence only", _truncated
    if op in ("tanh", "sigmoid", "add", "mul", "cat"):
        yield "zero", lambda func, args, made: torch.zeros_like(made)


def _truncated(func: Any, args: list[Any], made: Result) -> Result:
    """From a fresh state; what came before is taken from the true result, so that only memory is lost."""
    batch_first = args[8]
    x = args[0].transpose(0, 1) if batch_first else args[0]
    length = max(1, x.shape[0] // 8)
    if length == x.shape[0]:
        return made
    tail = x[-length:]
    short = func(tail.transpose(0, 1).contiguous() if batch_first else tail, *args[1:])
    whole = made[0].clone()
    part = whole.transpose(0, 1) if batch_first else whole
    part[-length:] = short[0].transpose(0, 1) if batch_first else short[0]
    return (whole, *short[1:])


def _of_parameters(plan: dict[str, Any]) -> Iterator[tuple[str, Mutant]]:
    for name, i in plan["parameters"]:
        if not plan["tensors"][i]["dtype"].startswith("float"):
            continue
        neutral = torch.ones_like if len(plan["tensors"][i]["shape"]) == 1 and name.endswith("weight") else torch.zeros_like
        yield "parameter ignored", Mutant(f"parameter {name}: ignored", replace={name: neutral})


def _only(step: int, function: Callable) -> Change:
    def change(i: int, func: Any, args: list[Any], made: Result) -> Result:
        if i != step:
            return made
        if isinstance(made, (tuple, list)) and function is not _truncated:
            first = function(func, args, made[0]) if not isinstance(made[0], (tuple, list)) else made[0]
            first = first[0] if isinstance(first, (tuple, list)) else first
            return (first, *made[1:])
        return function(func, args, made)
    return change


def _like(value: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
    return value.clone() if value.stride() == made.stride() else torch.empty_like(made).copy_(value)


def _blurred(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.to(torch.bfloat16).to(value.dtype)
    return [_blurred(v) for v in value] if isinstance(value, (list, tuple)) else value
