"""What the tracer answers to hello, task, trace and trace_reference (docs/protocol.md, "Tracer")."""
from __future__ import annotations

import gc
import json
import os
import time
import traceback

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import kagent as kg
from plan import no_compiler
from plan.infer import facts_of, infer
from tracer import program
from tracer.errors import ANSWER, KINDS, answer_line, explain, explain_task
from tracer.sealed import Seal, run
from tracer.task import Task

HARNESS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAX_STEPS = 20000
no_compiler.keep_out()


def failed(stage: str, kind: str, message: str, line: int | None = None, detail: str = "") -> dict:
    clean = "".join(c if c.isprintable() else " " for c in str(message))[:1000]
    return {"ok": False, "error": {"stage": stage, "kind": kind, "message": clean, "line": line, "block": "python" if line else "", "detail": detail}}


class Server:
    def __init__(self, seal_library: str):
        self.seal = Seal(seal_library)
        self.task: Task | None = None

    def hello(self, request: dict) -> dict:
        return {"ok": True, "torch": torch.__version__, "seal": self.seal.probe()}

    def load(self, request: dict) -> dict:
        self.task = None
        path = request["file"]
        try:
            return self._load(path)
        except Exception as error:  # noqa: BLE001  the task file's
            self.task = None
            return failed("internal", "task_error", explain_task(error, str(path)))

    def _load(self, path: str) -> dict:
        self.task = Task(path)
        # Warms everything a trace of this task needs: lazy imports fail inside the seal.
        with self.task.mode:
            plan = program.trace(self.task.model, self.task.inputs, 1 << 20)
        infer(plan, facts_of(self.task.model, self.task.inputs))
        _warm_errors()
        _warm_cudnn()
        facts = [{"shape": list(x.shape), "dtype": str(x.dtype)[6:]} if isinstance(x, torch.Tensor) else x for x in self.task.inputs]
        count = [p.numel() for p in self.task.model.parameters()]
        return {"ok": True, "inputs": facts, "parameters": len(count), "parameter_count": sum(count), "returns_sources": _returns_sources(plan)}

    def trace(self, request: dict) -> dict:
        task = self._ready()
        text, limit = request["program"], int(request.get("max_steps", MAX_STEPS))
        kg.device = kg.Device(request.get("device", {}))

        def work() -> bytes:
            try:
                with task.mode:
                    cls = program.model_class(text, task.module)
                return b"+" + json.dumps(task.trace(cls, limit), separators=(",", ":")).encode()
            except BaseException as error:  # noqa: BLE001  whatever a host program raises is its author's
                kind, message = explain(error)
                detail = "".join(traceback.format_exception(error))[-3000:]
                return b"-" + json.dumps({"kind": kind, "message": message, "line": answer_line(error), "detail": detail}).encode()

        return self._sealed(work, int(request.get("seconds", 20)))

    def trace_reference(self, request: dict) -> dict:
        """The reference is trusted code: no child is needed."""
        begin = time.monotonic()
        task = self._ready()
        with task.mode:
            plan = program.trace(task.model, task.inputs, 1 << 20)
        return {"ok": True, "plan": json.dumps(plan, separators=(",", ":")), "kernels": [], "elapsed_s": time.monotonic() - begin}

    def _ready(self) -> Task:
        if self.task is None:
            raise ValueError("no task is loaded: send task first")
        return self.task

    def _sealed(self, work, seconds: int) -> dict:
        begin = time.monotonic()
        gc.freeze()
        data, ended = run(self.seal, work, HARNESS, seconds)
        gc.unfreeze()
        if ended == "deadline":
            return failed("trace", "deadline", f"the host program did not end within {seconds} s: it must only describe the work, not do it")
        if ended == "too_much":
            return failed("trace", "plan_too_large", "the plan is larger than 24 MiB: launch fewer, larger steps")
        if ended or data[:1] not in (b"+", b"-"):
            return failed("trace", "crashed", ended or "the host program's process said nothing")
        try:
            text = data[1:].decode()
            said = json.loads(text)
            json.dumps(said, ensure_ascii=False).encode()  # no half surrogates: other readers take them for broken
        except (ValueError, RecursionError):
            return failed("trace", "garbled", "the host program's process wrote no plan")
        if data[:1] == b"-":
            return _refused(said if isinstance(said, dict) else {})
        return {"ok": True, "plan": text, "kernels": _kernels(said), "elapsed_s": time.monotonic() - begin}


def _refused(said: dict) -> dict:
    """What the sealed child said of an error. It may say anything: a kind that the tracer does not have is a program's own exception."""
    kind, line = said.get("kind"), said.get("line")
    return failed("trace", kind if isinstance(kind, str) and kind in KINDS else "exception", said.get("message", ""),
                  line if type(line) is int and 0 < line < 1 << 30 else None, str(said.get("detail", ""))[:3000])


def _kernels(plan) -> list[str]:
    """The kernels that a (hostile) plan names, each once."""
    steps = [s for phase in ("prepare", "forward") for s in (plan.get(phase) if isinstance(plan, dict) and isinstance(plan.get(phase), list) else [])]
    names = (s.get("launch") for s in steps if isinstance(s, dict))
    return list(dict.fromkeys(n for n in names if isinstance(n, str) and len(n) < 1000))[:1000]


def _returns_sources(plan: dict) -> bool:
    """Whether an output is an input, a parameter, a buffer or a view of one, written in place or not: then an answer's may be, too."""
    sources = set(_tensors(plan["inputs"])) | {t for kind in ("parameters", "buffers", "state") for _, t in plan[kind]}
    return any(plan["tensors"][t]["storage"] in sources for t in _tensors(plan["outputs"]))


def _tensors(tree) -> list[int]:
    """The ids of all {"t": id} in it."""
    if isinstance(tree, dict):
        return [tree["t"]] if "t" in tree else [t for child in tree.values() for t in _tensors(child)]
    return [t for child in tree for t in _tensors(child)] if isinstance(tree, (list, tuple)) else []


def _warm_cudnn() -> None:
    """Convolutions and attention ask cuDNN's version when they are first called, and torch's lazy loader aborts where it cannot open the library:
    inside the seal. A task with neither leaves that to the answer."""
    with FakeTensorMode():
        query = torch.empty(1, 1, 8, 8, device="cuda")
        torch.nn.functional.scaled_dot_product_attention(query, query, query, is_causal=True)


def _warm_errors() -> None:
    """Takes the paths that errors take, so that their imports are there."""
    for code in ("x.item()", "x.cpu()", "x.numpy()", "bool(x.sum())", "x[x > 0]", "torch.rand(2, device='cuda')", "1 +"):
        try:
            with FakeTensorMode():
                exec(compile(code, ANSWER, "exec"), {"x": torch.empty(2, device="cuda"), "torch": torch})  # noqa: S102
        except BaseException as error:  # noqa: BLE001
            explain(error), answer_line(error)
