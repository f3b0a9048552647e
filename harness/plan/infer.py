"""Re-infers a plan in a clean process: every operator runs again on tensors without data, from the task's own facts, and what comes
out must equal what the plan claims: shape, stride, offset, dtype and storage of every tensor. A plan is written by its
author; only what was re-inferred here runs.

    facts = facts_of(model, inputs)      # of the real model, by trusted code
    infer(plan, facts)                   # raises Rejected
"""
from __future__ import annotations

import base64
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from plan import whole
from plan.arguments import WrongArguments, by_name
from plan.operators import allowed
from plan.randomness import is_random
from plan.values import DTYPES, decode, dtype_name
from plan.writes import written

_CUDA = torch.device("cuda")


class Rejected(Exception):
    """kind: a stable word; message: one line for the author; line: in the answer's python block, or None."""

    def __init__(self, kind: str, message: str, line: int | None = None):
        super().__init__(message)
        self.kind, self.message, self.line = kind, message, line


def tensor_facts(t: torch.Tensor) -> dict:
    return {"shape": list(t.shape), "stride": list(t.stride()), "dtype": dtype_name(t.dtype)}


def extent_bytes(t: torch.Tensor) -> int:
    """From the start of its storage to its last element's end."""
    if t.numel() == 0:
        return 0
    return (t.storage_offset() + sum((n - 1) * s for n, s in zip(t.shape, t.stride())) + 1) * t.element_size()


def plain_state(model: torch.nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Tensors that modules hold as plain attributes: state like buffers."""
    found = []
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return found


def facts_of(model: torch.nn.Module, inputs: list) -> dict:
    return {
        "inputs": [tensor_facts(x) if isinstance(x, torch.Tensor) else x for x in inputs],
        "parameters": [[n, tensor_facts(p)] for n, p in model.named_parameters()],
        "buffers": [[n, tensor_facts(b)] for n, b in model.named_buffers()],
        "state": [[n, tensor_facts(s)] for n, s in plain_state(model)],
    }


class _Replay:
    def __init__(self, plan: dict):
        self.plan = plan
        self.tensors: dict[int, torch.Tensor] = {}
        self.roots: dict[int, int] = {}      # storage -> id of its first tensor
        self.bytes: dict[int, int] = {}      # storage -> its size when it was new: without data, torch lets a view grow it
        self.parameters: set[int] = set()    # storages
        self.prepared: set[int] = set()      # storages made by prepare
        self.state: set[int] = set()         # storages of buffers and state
        self.inputs: set[int] = set()
        self.line: int | None = None

    def reject(self, kind: str, message: str):
        raise Rejected(kind, message, self.line)

    def get(self, i: Any) -> torch.Tensor:
        if not isinstance(i, int) or i not in self.tensors:
            self.reject("unknown_tensor", f"tensor {i} is used before it is made")
        return self.tensors[i]

    def storage(self, t: torch.Tensor) -> int:
        return t.untyped_storage()._cdata

    def define(self, i: Any, t: torch.Tensor, what: str) -> None:
        """Binds a new id and holds its claims against the tensor."""
        claims = self.plan["tensors"]
        if not isinstance(i, int) or not 0 <= i < len(claims) or i in self.tensors:
            self.reject("bad_id", f"{what}: tensor id {i} is out of range or made twice")
        if t.device.type != "cuda":
            self.reject("cpu_tensor", f"{what}: its result is not on the GPU: give device=x.device")
        self.tensors[i] = t
        root = self.roots.setdefault(self.storage(t), i)
        actual = {**tensor_facts(t), "offset": t.storage_offset(), "storage": root}
        claim = claims[i]
        for key, value in actual.items():
            if claim.get(key) != value:
                self.reject("wrong_claim", f"{what}: {key} of its result is {value}, the plan claims {claim.get(key)}")
        if extent_bytes(t) > self.bytes.setdefault(self.storage(t), t.untyped_storage().nbytes()):
            self.reject("outside_storage", f"{what}: its result reaches beyond the storage it is a view of")

    def fresh(self, facts: dict) -> torch.Tensor:
        return torch.empty_strided(facts["shape"], facts["stride"], dtype=DTYPES[facts["dtype"]], device="cuda")

    def sources(self, facts: dict) -> None:
        plan = self.plan
        if len(plan["inputs"]) != len(facts["inputs"]):
            self.reject("wrong_inputs", f"the plan has {len(plan['inputs'])} inputs, the task {len(facts['inputs'])}")
        for value, fact in zip(plan["inputs"], facts["inputs"]):
            if isinstance(fact, dict):
                if not isinstance(value, dict):
                    self.reject("wrong_inputs", "an input tensor is missing in the plan")
                t = self.fresh(fact)
                self.define(value["t"], t, "an input")
                self.inputs.add(self.storage(t))
            elif value != fact or type(value) is not type(fact):
                self.reject("wrong_inputs", f"an input is {fact!r}, the plan says {value!r}")
        for kind in ("parameters", "buffers", "state"):
            names = [name for name, _ in facts[kind]]
            if [name for name, _ in plan[kind]] != names:
                self.reject("wrong_model", f"the plan's {kind} are not the model's")
            for (name, i), (_, fact) in zip(plan[kind], facts[kind]):
                t = self.fresh(fact)
                self.define(i, t, f"{kind} {name}")
                (self.parameters if kind == "parameters" else self.state).add(self.storage(t))
        for constant in plan["constants"]:
            claim = plan["tensors"][constant["t"]]
            t = torch.empty(claim["shape"], dtype=DTYPES[claim["dtype"]], device="cuda")
            self.define(constant["t"], t, "a constant")
            if len(base64.b64decode(constant["data"], validate=True)) != extent_bytes(t):
                self.reject("wrong_claim", "a constant has more or fewer bytes than its shape and dtype say")
            self.parameters.add(self.storage(t))  # read-only, like a parameter

    def operator(self, step: dict, phase: str) -> None:
        name = step["op"]
        if name not in allowed():
            self.reject("operator_not_allowed", f"operator {name} is not allowed in a plan")
        namespace, _, rest = name.partition("::")
        base, _, overload = rest.partition(".")
        func = getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")
        args = [decode(a, self.get) for a in step["args"]]
        kwargs = {k: decode(v, self.get) for k, v in step["kwargs"].items()}
        try:
            given = by_name(func, args, kwargs)
        except WrongArguments as error:
            self.reject("operator_error", f"{name}: {error}")
        if given.get("pin_memory") or not isinstance(given.get("device", _CUDA), torch.device):
            self.reject("cpu_tensor", f"{name}: tensors are made on the GPU, with device=x.device")
        if is_random(func, name, args, kwargs):
            self.reject("random", f"{name} draws random numbers")
        for t in written(func, name, args, kwargs):
            if self.storage(t) in self.parameters:
                self.reject("writes_parameter", f"{name} writes to a parameter or constant")
            if phase == "prepare" and self.storage(t) in self.state:
                self.reject("prepare_writes", f"{name} writes to a buffer or state in prepare, which may write tensors of its own only")
            if phase == "forward" and self.storage(t) in self.prepared:
                self.reject("writes_prepared", f"{name} writes to what prepare made: it would carry state from call to call")
        try:
            made = whole.call(func, name, args, kwargs)
        except Rejected:
            raise
        except Exception as error:  # noqa: BLE001  an operator may refuse its arguments in many ways
            self.reject("operator_error", f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}")
        made = list(made) if isinstance(made, (tuple, list)) and len(func._schema.returns) != 1 else [made]
        if len(made) != len(step["results"]):
            self.reject("wrong_claim", f"{name} returns {len(made)} values, the plan names {len(step['results'])}")
        for result, claim in zip(made, step["results"]):
            self.bind(name, result, claim)

    def bind(self, name: str, result: Any, claim: Any) -> None:
        if isinstance(result, (list, tuple)):
            if not isinstance(claim, list) or len(claim) != len(result):
                self.reject("wrong_claim", f"{name} returns a list of {len(result)} tensors")
            for r, c in zip(result, claim):
                self.bind(name, r, c)
        elif result is None or claim is None:
            if not (result is None and claim is None):
                self.reject("wrong_claim", f"{name}: a result is undefined and the plan does not say so, or the other way")
        elif not isinstance(result, torch.Tensor) or not isinstance(claim, dict):
            self.reject("wrong_claim", f"{name} returns something that is no tensor")
        else:
            i = claim["t"]
            known = self.tensors.get(i) if isinstance(i, int) else None
            if known is None:
                self.define(i, result, name)
            elif known is not result and not self.same(known, result):
                self.reject("wrong_claim", f"{name}: its result is not tensor {i}")

    def same(self, a: torch.Tensor, b: torch.Tensor) -> bool:
        return (self.storage(a), a.storage_offset(), tensor_facts(a)) == (self.storage(b), b.storage_offset(), tensor_facts(b))

    def launch(self, step: dict) -> None:
        def check(value: Any) -> None:
            if isinstance(value, dict) and "t" in value:
                self.get(value["t"])
            elif isinstance(value, dict) and "array" in value:
                for item in value["array"]:
                    check(item)
        for value in step["args"]:
            check(value)

    def outputs(self, tree: dict) -> None:
        if "t" in tree:
            self.get(tree["t"])
        for key in ("tuple", "list"):
            for child in tree.get(key, ()):
                self.outputs(child)
        for _, child in tree.get("dict", ()):
            self.outputs(child)

    def run(self, facts: dict) -> None:
        self.sources(facts)
        hidden_inputs = {i for i, t in self.tensors.items() if self.storage(t) in self.inputs}
        held = {i: self.tensors.pop(i) for i in hidden_inputs}  # prepare cannot name what is not there
        before = {self.storage(t) for t in self.tensors.values()}
        for phase in ("prepare", "forward"):
            if phase == "forward":
                self.prepared = {self.storage(t) for t in self.tensors.values()} - before
                self.tensors.update(held)
            for step in self.plan[phase]:
                self.line = step["line"]
                if "op" in step:
                    self.operator(step, phase)
                else:
                    self.launch(step)
        self.line = None
        self.outputs(self.plan["outputs"])


def infer(plan: dict, facts: dict) -> None:
    """`plan` has the structure of docs/plan.md (the C++ parser accepted it). Raises Rejected."""
    replay = _Replay(plan)
    try:
        with FakeTensorMode(), torch.no_grad():
            replay.run(facts)
    except Rejected:
        raise
    except Exception as error:  # noqa: BLE001  whatever else a hostile plan provokes
        raise Rejected("bad_plan", f"the plan cannot be re-inferred: {type(error).__name__}: {str(error)[:200]}", replay.line) from error
