"""Errors of a host program, and of a task file, in words its author can act on."""
from __future__ import annotations

import os
import traceback

ANSWER = "<answer>"  # the host program's file name in tracebacks

_INSTEAD = {
    "data_dependent": "a host program has no data: it runs once on tensors that have shapes only. Decide on the GPU (inside a kernel, or by torch.where), not in Python",
    "host_transfer": "tensors cannot leave the GPU: there is no data in a host program. Keep the computation on x.device",
    "cpu_tensor": "the tensor is made on the CPU: give device=x.device",
    "random": "random numbers are not allowed: the same call must give the same result",
    "dynamic_shape": "the shape of the result depends on data (nonzero, boolean-mask indexing, unique): use torch.where or a mask inside a kernel",
}

# The same of the user's own model, which is traced as a host program is.
_IN_A_TASK = {
    "data_dependent": "your model decides in Python by a tensor's values (if, while, .item()): kagent runs it once on tensors that have shapes only. "
                      "Use torch.where",
    "host_transfer": "your model takes a tensor off the GPU: keep the computation on x.device",
    "cpu_tensor": "your model makes a tensor on the CPU: give device=x.device, or register it as a buffer",
    "random": "your model draws random numbers in forward (dropout with p > 0 in train mode?): the same call must give the same result",
    "dynamic_shape": "the shape of a result in your model depends on data (nonzero, boolean-mask indexing, unique): use torch.where or a mask",
}


# Every kind that an error of a host program may have. The program itself can raise a TraceError of any other: the parent lets none through.
KINDS = frozenset((*_INSTEAD, "constant_too_large", "deadline", "exception", "forbidden", "no_forward", "no_model", "operator_not_allowed", "own_init",
                   "prepare_reads_input", "state_changed_shape", "syntax_error", "too_many_steps", "unknown_tensor", "writes_parameter", "wrong_kg_call",
                   "wrong_output"))


class TraceError(Exception):
    """kind: a stable word; message: one line that says what was wrong and what to do."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind, self.message = kind, message


def refuse(kind: str, what: str) -> TraceError:
    return TraceError(kind, f"{what}: {_INSTEAD[kind]}")


def answer_line(error: BaseException) -> int | None:
    """The innermost line of the answer in the traceback."""
    return _line_in(ANSWER, error)


def _line_in(file: str, error: BaseException) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    return lines[-1] if lines else None


def explain_task(error: BaseException, path: str) -> str:
    """One line on what a task file raised, with the file's name and its line."""
    name, line = os.path.basename(path), _line_in(path, error)
    where = f"{name}:{line}" if line else name
    if isinstance(error, ModuleNotFoundError):
        return f"{where}: imports {error.name}, which is not installed"
    if isinstance(error, SyntaxError):
        return f"{where}: SyntaxError: {error.msg}"
    kind, message = explain(error)
    if kind in _IN_A_TASK:
        operator = message.removesuffix(_INSTEAD[kind]) if isinstance(error, TraceError) else ""
        return f"{where}: {operator}{_IN_A_TASK[kind]}"
    if isinstance(error, TraceError):
        return f"{where}: {message}"
    first = next(iter(str(error).strip().splitlines()), "")
    return f"{where}: {type(error).__name__}: {first[:400]}"


def _syntax(error: SyntaxError) -> str:
    if "<<<" in (error.text or ""):
        return "<<<...>>> is CUDA C++; launch by kg.launch(name, grid, block, args) here"
    return str(error.msg)


def explain(error: BaseException) -> tuple[str, str]:
    """(kind, message) of anything a host program may raise."""
    if isinstance(error, TraceError):
        return error.kind, error.message
    name, text = type(error).__name__, str(error)
    first = text.strip().splitlines()[0] if text.strip() else ""
    if name == "KagentError":
        return "wrong_kg_call", first
    if name in ("DataDependentOutputException", "GuardOnDataDependentSymNode") or "cannot be converted to Scalar" in text:
        return "data_dependent", f".item(), bool() or a Python if on a tensor: {_INSTEAD['data_dependent']}"
    if "found two different devices" in text or "tensors to be on the same device" in text:
        return "cpu_tensor", f"a tensor on the CPU meets one on the GPU: {_INSTEAD['cpu_tensor']}"
    if name == "DynamicOutputShapeException":
        return "dynamic_shape", _INSTEAD["dynamic_shape"]
    if "numpy" in text and ("FakeTensor" in text or "subclass" in text):
        return "host_transfer", f".numpy(): {_INSTEAD['host_transfer']}"
    if isinstance(error, SyntaxError):
        return "syntax_error", f"the python block does not parse: {_syntax(error)}"
    if isinstance(error, ImportError):
        return "forbidden", f"a host program may import torch, math and kagent, not {error.name or first[:200]}"
    if isinstance(error, PermissionError) or (isinstance(error, OSError) and error.errno in (1, 13)):
        return "forbidden", f"a host program has no files, network or processes ({name}: {error.strerror or first[:200]})"
    if isinstance(error, RecursionError):
        return "exception", "RecursionError: the host program recurses without end"
    if isinstance(error, MemoryError):
        return "exception", "MemoryError: the host program needs too much memory"
    return "exception", f"{name}: {first[:400]}"
