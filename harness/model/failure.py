"""Errors of a worker as values of the protocol: {"stage", "kind", "message", "line", "block", "detail"}."""

from __future__ import annotations

import json
import re
import traceback
from typing import Any

import torch

# What CUDA says (runtime and driver wording) against the stable word of the protocol. After any of these but the first
# two the process's CUDA context is lost, and so is the process (CUDA driver API, "sticky" errors).
_CUDA_KINDS = (
    ("out_of_memory", r"out of memory|CUDA_ERROR_OUT_OF_MEMORY|CUBLAS_STATUS_ALLOC_FAILED"),
    ("launch_error", r"invalid configuration argument|too many resources requested|invalid argument|"
                     r"CUDA_ERROR_INVALID_VALUE|CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES|too many blocks in cooperative"),
    ("illegal_access", r"illegal memory access|CUDA_ERROR_ILLEGAL_ADDRESS"),
    ("misaligned_access", r"misaligned address|CUDA_ERROR_MISALIGNED_ADDRESS"),
    ("illegal_instruction", r"illegal instruction|CUDA_ERROR_ILLEGAL_INSTRUCTION"),
    ("assert", r"device-side assert|CUDA_ERROR_ASSERT"),
    ("stack_error", r"hardware stack error|CUDA_ERROR_HARDWARE_STACK_ERROR"),
    ("launch_timeout", r"launch timed out|CUDA_ERROR_LAUNCH_TIMEOUT"),
    ("launch_failure", r"unspecified launch failure|CUDA_ERROR_LAUNCH_FAILED"),
)
_SURVIVABLE = ("out_of_memory", "launch_error")
_FIELDS = ("stage", "kind", "message", "line", "block", "detail")


class Failure(Exception):
    """An answer with "ok": false. fatal: the process cannot go on and exits after answering."""

    def __init__(self, stage: str, kind: str, message: str, detail: str = "", line: int | None = None,
                 block: str | None = None, fatal: bool = False):
        super().__init__(message)
        self.error = {"stage": stage, "kind": kind, "message": one_line(message), "line": line, "block": block,
                      "detail": detail}
        self.fatal = fatal


def one_line(text: str, limit: int = 600) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= limit else line[:limit - 3] + "..."


def cuda_kind(text: str) -> str | None:
    """The protocol's word for a CUDA error message, or None when the text is no CUDA error we know."""
    for kind, pattern in _CUDA_KINDS:
        if re.search(pattern, text, re.IGNORECASE):
            return kind
    return None


def embedded(text: str) -> dict[str, Any] | None:
    """The error object of an exception of libkagent_harness.so ("kagent:{json}"; torch may add lines around it)."""
    begin = text.find("kagent:{")
    if begin < 0:
        return None
    try:
        error, _ = json.JSONDecoder().raw_decode(text, begin + len("kagent:"))
    except ValueError:
        return None
    return error if isinstance(error.get("kind"), str) and isinstance(error.get("message"), str) else None


def failure_of(error: BaseException, stage: str) -> Failure:
    """Names any exception of a command whose own stage is `stage`."""
    if isinstance(error, Failure):
        return error
    text = str(error)
    detail = "".join(traceback.format_exception(error))[-8000:]
    if ours := embedded(text):
        known = {key: ours.get(key) for key in _FIELDS}
        lost = ours["kind"] not in _SURVIVABLE and ours["kind"] in {kind for kind, _ in _CUDA_KINDS}
        return Failure(known["stage"] or stage, known["kind"], known["message"], known["detail"] or detail,
                       known["line"], known["block"], fatal=lost or bool(ours.get("fatal")))
    if isinstance(error, MemoryError):
        return Failure(stage, "out_of_memory", "the machine ran out of memory", detail)
    if isinstance(error, (torch.OutOfMemoryError, RuntimeError)):
        kind = "out_of_memory" if isinstance(error, torch.OutOfMemoryError) else cuda_kind(text)
        if kind or "CUDA error" in text:
            kind = kind or "cuda_error"
            return Failure(stage, kind, _first_sentence(text), detail, fatal=kind not in _SURVIVABLE)
    return Failure("internal", "exception", f"{type(error).__name__}: {_first_sentence(text)}", detail)


def context_lost() -> str | None:
    """What CUDA says when the context is lost (a sticky error), else None. Never starts CUDA by itself."""
    if not torch.cuda.is_initialized():
        return None
    try:
        torch.cuda.synchronize()
    except RuntimeError as error:
        return str(error)
    return None


def _first_sentence(text: str) -> str:
    """CUDA's messages go on with advice about debugging flags: the first line says what happened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else "no message"
