"""Runs a reference's plan step by step in Python, so that a study may change what a step gives. The executor
(harness/execute) is what judges; this one is slow and for references only."""

from __future__ import annotations

import base64
from typing import Any, Callable

import torch
from torch import nn

from plan.values import DTYPES, decode
from model.state import state_tensors

Environment = dict[int, torch.Tensor]
# Of a step's number, its operator, its arguments and its results; gives other results, of the same shapes.
Change = Callable[[int, Any, list[Any], Any], Any]


class Interpreter:
    def __init__(self, plan: dict[str, Any], model: nn.Module, device: torch.device):
        self._plan, self._model, self._device = plan, model, device
        self._operators = [_operator(step["op"]) for step in plan["forward"]]

    def run(self, inputs: list[torch.Tensor], change: Change | None = None, replace: dict[str, Callable] | None = None) -> list[torch.Tensor]:
        """The outputs' leaves. `replace`: by parameter, what the plan reads instead."""
        env = self._sources(inputs, replace or {})
        for i, step in enumerate(self._plan["forward"]):
            args = [self._value(a, env) for a in step["args"]]
            kwargs = {k: self._value(v, env) for k, v in step["kwargs"].items()}
            made = self._operators[i](*args, **kwargs)
            if change is not None:
                made = change(i, self._operators[i], args, made)
            _bind(step["results"], made, len(self._operators[i]._schema.returns), env)
        return [env[i] for i in _leaves(self._plan["outputs"])]

    def _sources(self, inputs: list[torch.Tensor], replace: dict[str, Callable]) -> Environment:
        env: Environment = {}
        tensors = [v["t"] for v in self._plan["inputs"] if isinstance(v, dict) and "t" in v]
        env.update(zip(tensors, inputs))
        for (name, i), parameter in zip(self._plan["parameters"], self._model.parameters()):
            env[i] = replace[name](parameter.detach()) if name in replace else parameter
        state = state_tensors(self._model)
        for name, i in self._plan["buffers"] + self._plan["state"]:
            env[i] = state[name]
        for constant in self._plan["constants"]:
            claim = self._plan["tensors"][constant["t"]]
            data = bytearray(base64.b64decode(constant["data"]))
            env[constant["t"]] = torch.frombuffer(data, dtype=DTYPES[claim["dtype"]]).view(claim["shape"]).to(self._device)
        return env

    def _value(self, value: Any, env: Environment) -> Any:
        decoded = decode(value, env.__getitem__)
        return self._device if isinstance(decoded, torch.device) else decoded


def _operator(name: str) -> Any:
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")


def _bind(claims: list[Any], made: Any, returns: int, env: Environment) -> None:
    values = list(made) if isinstance(made, (tuple, list)) and returns != 1 else [made]
    for claim, value in zip(claims, values):
        if isinstance(claim, list):
            _bind(claim, value, len(claim) if len(claim) != 1 else 0, env)
        elif claim is not None:
            env[claim["t"]] = value


def _leaves(tree: dict[str, Any]) -> list[int]:
    if "t" in tree:
        return [tree["t"]]
    items = tree.get("tuple", tree.get("list", [child for _, child in tree.get("dict", [])]))
    return [leaf for item in items for leaf in _leaves(item)]
