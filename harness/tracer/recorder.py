"""Records what a host program does on tensors without data, as the steps of a plan (docs/plan.md).

Operators are seen at torch's PreDispatch key, above composite decomposition: conv2d, batch_norm, scaled_dot_product_attention, einsum stay
whole, and the dispatcher decomposes them where the plan runs. torch lets only its own ProxyTorchDispatchMode (make_fx's) sit at that
key, so the recorder is one by name; it shares none of its tracing.
"""
from __future__ import annotations

import base64
import sys
from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx.experimental.proxy_tensor import ProxyTorchDispatchMode
from torch.utils._python_dispatch import TorchDispatchMode, _pop_mode, _push_mode

import kagent as kg
from plan import whole
from plan.infer import plain_state
from plan.operators import allowed, schema_name
from plan.randomness import is_identity, is_random
from plan.values import dtype_name, encode
from plan.writes import written
from tracer.errors import ANSWER, TraceError, refuse

MAX_CONSTANT_BYTES = 1 << 20
# Operators that only hand out what is there already, or that torch inserts for its own bookkeeping.
_LIFTS = ("aten::lift_fresh", "aten::lift_fresh_copy", "aten::lift")


class Recorder(ProxyTorchDispatchMode):
    """Enter it inside FakeTensorMode. Steps go to `phase` ("prepare" or "forward")."""

    def __init__(self, model: torch.nn.Module, inputs: list, max_steps: int):
        TorchDispatchMode.__init__(self, torch._C.DispatchKey.PreDispatch)
        self._mode_key = torch._C._TorchDispatchModeKey.PROXY
        self.pre_dispatch = True
        self.phase = "prepare"
        self.max_steps = max_steps
        self.options = {"graph": True, "tf32": False}
        self.steps: dict[str, list] = {"prepare": [], "forward": []}
        self.tensors: list[dict] = []
        self.keep: list[torch.Tensor] = []          # ids by object identity need living objects
        self.ids: dict[int, int] = {}               # id(tensor) -> plan id
        self.roots: dict[int, int] = {}             # storage -> plan id
        self.constants: list[dict] = []
        self.constant_bytes = 0
        self.tags: list[list] = []
        self.read_only: dict[int, str] = {}         # storage -> name, for parameters and constants
        self.factories = _Factories(self)
        self.inputs = [{"t": self.define(x)} if isinstance(x, torch.Tensor) else x for x in inputs]
        self.input_storages = {self.storage(x) for x in inputs if isinstance(x, torch.Tensor)}
        self.parameters = [[n, self.define(p)] for n, p in model.named_parameters()]
        self.buffers = [[n, self.define(b)] for n, b in model.named_buffers()]
        self.state = [[n, self.define(s)] for n, s in plain_state(model)]
        self.attributes = [(m, a, v) for m in model.modules() for a, v in vars(m).items() if isinstance(v, torch.Tensor)]
        for name, p in model.named_parameters():
            self.read_only[self.storage(p)] = f"the parameter {name}"

    def __enter__(self):
        self.factories.__enter__()
        _push_mode(self)
        return self

    def __exit__(self, *exc):
        _pop_mode(self._dispatch_key)
        self.factories.__exit__(*exc)

    # Tensors -----------------------------------------------------------------------------------------------------------

    @staticmethod
    def storage(t: torch.Tensor) -> int:
        return t.untyped_storage()._cdata

    def define(self, t: torch.Tensor) -> int:
        known = self.ids.get(id(t))
        if known is not None:
            return known
        i = len(self.tensors)
        root = self.roots.setdefault(self.storage(t), i)
        self.tensors.append({"shape": list(t.shape), "stride": list(t.stride()), "offset": t.storage_offset(), "dtype": dtype_name(t.dtype), "storage": root})
        self.ids[id(t)] = i
        self.keep.append(t)
        return i

    def known(self, t: torch.Tensor) -> int:
        i = self.ids.get(id(t))
        if i is None:
            raise TraceError("unknown_tensor", "a tensor was made outside prepare and forward (at the top of the program?): make it inside, or use kg.constant")
        if self.phase == "prepare" and self.storage(t) in self.input_storages:
            raise TraceError("prepare_reads_input", "prepare may read parameters and buffers only, never an input: it runs before there is one")
        return i

    def constant(self, values: Any, dtype: torch.dtype | None) -> torch.Tensor:
        with unset_fake_temporarily(), _without_recorder():
            real = torch.as_tensor(values, dtype=dtype, device="cpu").contiguous()
            data = bytes(real.reshape(-1).view(torch.uint8).tolist()) if real.numel() else b""
        self.constant_bytes += len(data)
        if self.constant_bytes > MAX_CONSTANT_BYTES:
            raise TraceError("constant_too_large", "constants are larger than 1 MiB together: compute tables in prepare, or in a kernel")
        with _without_recorder():
            t = torch.empty(real.shape, dtype=real.dtype, device="cuda")
        self.constants.append({"t": self.define(t), "data": base64.b64encode(data).decode()})
        self.read_only[self.storage(t)] = "a constant"
        return t

    # Steps -------------------------------------------------------------------------------------------------------------

    def add(self, step: dict) -> None:
        step["line"] = _answer_line()
        steps = self.steps[self.phase]
        steps.append(step)
        if len(self.steps["prepare"]) + len(steps) > self.max_steps:
            raise TraceError("too_many_steps", f"the program makes more than {self.max_steps} steps: put the loop inside one kernel (a persistent, cooperative one "
                             "can run over time steps) instead of unrolling it")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = schema_name(func)
        if name in _LIFTS:
            return self.constant(args[0], None) if id(args[0]) not in self.ids else args[0]
        if is_identity(name, args, kwargs) or name == "aten::detach_":
            return args[0]
        if is_random(func, name, args, kwargs):
            raise refuse("random", name)
        with _without_recorder():
            out = whole.call(func, name, list(args), kwargs)
        self.record(func, name, args, kwargs, out)
        return out

    def record(self, func, name: str, args: tuple, kwargs: dict, out: Any) -> None:
        results = list(out) if isinstance(out, (tuple, list)) else [out]
        made = [t for r in results for t in (r if isinstance(r, (tuple, list)) else [r]) if isinstance(t, torch.Tensor)]
        changed = written(func, name, args, kwargs)
        if not made and not changed:
            return  # a question about shapes
        if any(t.device.type != "cuda" for t in made):
            from_gpu = any(isinstance(a, torch.Tensor) for a in (*args, *kwargs.values()))
            raise refuse("host_transfer" if from_gpu else "cpu_tensor", name)
        for t in changed:
            what = self.read_only.get(self.storage(t))
            if what is not None:
                raise TraceError("writes_parameter", f"{name} writes to {what}: parameters and constants are read-only")
        if not changed and all(id(t) in self.ids for t in made):
            return  # .contiguous() of a contiguous tensor and its kind give back what they got
        if name not in allowed():
            raise TraceError("operator_not_allowed", f"{name} is not among the library calls a plan may use: write it as a kernel, or use another call")
        step = {"op": name, "args": [self.encode(a) for a in args], "kwargs": {k: self.encode(v) for k, v in kwargs.items()}}
        one = len(func._schema.returns) == 1
        step["results"] = [self.result(out)] if one else [self.result(r) for r in results]
        self.add(step)

    def encode(self, value: Any) -> Any:
        return encode(value, self.known)

    def result(self, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, (tuple, list)):
            return [self.result(v) for v in value]
        return {"t": self.define(value)}

    # What kg calls --------------------------------------------------------------------------------------------------------

    def launch(self, kernel: str, grid: list, block: list, args: list, shared: int, cluster: list | None, cooperative: bool) -> None:
        self.add({"launch": kernel, "grid": grid, "block": block, "shared": shared, "cluster": cluster, "cooperative": cooperative,
                  "args": [self.launch_value(kernel, i, a) for i, a in enumerate(args)]})

    def launch_value(self, kernel: str, position: int, value: Any) -> Any:
        if isinstance(value, kg.Strided):
            return {"t": self.known(value.tensor), "strided": True}
        if isinstance(value, kg.Int64):
            return {"i64": value.value}
        if isinstance(value, kg.Array):
            return {"array": [self.launch_value(kernel, position, item) for item in value.items]}
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise TraceError("wrong_kg_call", f"kg.launch({kernel!r}): argument {position + 1} does not fit 64 bits")
        if isinstance(value, torch.Tensor) or value is None or isinstance(value, (bool, int, float)):
            return self.encode(value)
        raise TraceError("wrong_kg_call", f"kg.launch({kernel!r}): argument {position + 1} is a {type(value).__name__}; give tensors, numbers, None or kg.array")

    def settle_state(self) -> None:
        """A module that binds a plain attribute anew (self.hidden = ...) has new state: as a step, a copy into the tensor it had."""
        for module, attribute, before in self.attributes:
            now = getattr(module, attribute, None)
            if now is before:
                continue
            if not isinstance(now, torch.Tensor) or now.shape != before.shape or now.dtype != before.dtype:
                raise TraceError("state_changed_shape", f"the attribute {attribute} holds another kind of tensor after forward than before")
            before.copy_(now)
            setattr(module, attribute, before)

    def tag(self, name: str, t: torch.Tensor) -> None:
        self.tags.append([name[:200], self.known(t)])

    def set_options(self, graph: bool | None, tf32: bool | None) -> None:
        for key, value in (("graph", graph), ("tf32", tf32)):
            if value is not None:
                self.options[key] = bool(value)

    # The plan ---------------------------------------------------------------------------------------------------------

    def tree(self, value: Any) -> dict:
        if isinstance(value, torch.Tensor):
            return {"t": self.known(value)}
        if isinstance(value, (tuple, list)):
            return {"tuple" if isinstance(value, tuple) else "list": [self.tree(v) for v in value]}
        if isinstance(value, dict):
            return {"dict": [[str(k), self.tree(v)] for k, v in value.items()]}
        if value is None or isinstance(value, (bool, int, float)):
            return {"value": value}
        raise TraceError("wrong_output", f"forward returns a {type(value).__name__}: return tensors, or tuples, lists or dicts of them")

    def plan(self, output: Any) -> dict:
        return {"version": 1, "options": self.options, "tensors": self.tensors, "inputs": self.inputs, "parameters": self.parameters, "buffers": self.buffers,
                "state": self.state, "constants": self.constants, "prepare": self.steps["prepare"], "forward": self.steps["forward"],
                "outputs": self.tree(output), "tags": self.tags}


class _Factories(TorchDispatchMode):
    """Calls without a tensor among their arguments (zeros, arange) never reach PreDispatch: they are seen at torch's ordinary key."""

    def __init__(self, recorder: Recorder):
        super().__init__()
        self.recorder = recorder

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        recording = torch._ops._len_torch_dispatch_stack_pre_dispatch() > 0  # not inside an operator's own decomposition
        if recording and not any(isinstance(a, torch.Tensor) for a in (*args, *kwargs.values())):
            if is_random(func, schema_name(func), args, kwargs):
                raise refuse("random", schema_name(func))
            out = func(*args, **kwargs)
            with _without_recorder():
                self.recorder.record(func, schema_name(func), args, kwargs, out)
            return out
        return func(*args, **kwargs)


class _without_recorder:  # noqa: N801  a context, named like one
    """The recorder's own calls, and what an operator does inside, are not steps."""

    def __enter__(self):
        self.mode = _pop_mode(torch._C.DispatchKey.PreDispatch) if torch._ops._len_torch_dispatch_stack_pre_dispatch() else None

    def __exit__(self, *exc):
        if self.mode is not None:
            _push_mode(self.mode)


def _answer_line() -> int | None:
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == ANSWER:
            return frame.f_lineno
        frame = frame.f_back
    return None
