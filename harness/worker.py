"""A worker: the reference's (expected values, baselines, comparison) or a candidate's (one plan). docs/protocol.md,
"Worker", says what it is asked and what it answers."""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import signal
import sys
import tempfile
from typing import Any, BinaryIO

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def claim_stdout() -> BinaryIO:
    """The protocol's own channel. What task files print goes to stderr, the log."""
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return channel


def end_with_kagent() -> None:
    """A compilation takes minutes and would go on, on the GPU, after kagent was stopped."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--role", choices=("reference", "candidate"), required=True)
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--gpu", help="index or UUID; without it CUDA_VISIBLE_DEVICES decides")
    parser.add_argument("--library", default=os.environ.get("KAGENT_HARNESS_LIB", "libkagent_harness.so"))
    parser.add_argument("--may-compile", action="store_true", help="torch.compile is allowed: for baselines, never while judging")
    parser.add_argument("--compile-cache", default=os.path.join(tempfile.gettempdir(), "compiled"), help="where torch.compile keeps kernels")
    return parser.parse_args()


def serve(arguments: argparse.Namespace, requests: BinaryIO, answers: BinaryIO) -> None:
    from check import commands as check
    from measure import commands as measure
    from model import commands as model
    from model.session import Session
    from plan import no_compiler
    from study import commands as study

    if arguments.may_compile:
        end_with_kagent()
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = arguments.compile_cache
    else:
        no_compiler.keep_out()
    session = Session(arguments.role, arguments.backend, arguments.library, arguments.may_compile)
    commands = {**model.COMMANDS, **check.COMMANDS, **measure.COMMANDS, **study.COMMANDS}
    for line in requests:
        reply = answer(session, commands, line)
        answers.write(encoded(reply))
        answers.flush()
        if reply.get("fatal"):
            os._exit(1)  # the CUDA context is lost: even an orderly exit may hang in its destructors
        if b'"time_burst"' not in line:  # a collection takes longer than a burst, and hundreds of bursts make a verdict
            gc.collect()


def answer(session: Any, commands: dict[str, Any], line: bytes) -> dict[str, Any]:
    from model.failure import Failure, context_lost, failure_of

    stage = "internal"
    try:
        try:
            request = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Failure("internal", "bad_request", f"a request is one JSON object a line: {error}") from error
        name = request.get("cmd") if isinstance(request, dict) else None
        if not isinstance(name, str) or name not in commands:
            raise Failure("internal", "bad_request", f"unknown cmd {name!r:.80}; known: {', '.join(commands)}")
        command, stage = commands[name]
        return {"ok": True, **command(session, request)}
    except BaseException as error:  # noqa: BLE001  one answer to each request, whatever a task file raises
        failure = failure_of(error, stage)
        reply = {"ok": False, "error": failure.error}
        if failure.fatal or context_lost():
            reply["fatal"] = True
        return reply


def encoded(reply: dict[str, Any]) -> bytes:
    try:
        return json.dumps(reply, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError) as error:
        message = {"stage": "internal", "kind": "exception", "message": f"the answer is no JSON: {error}", "line": None,
                   "block": None, "detail": ""}
        return json.dumps({"ok": False, "error": message}).encode() + b"\n"


def main() -> None:
    arguments = parse_arguments()
    channel = claim_stdout()
    if arguments.gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = arguments.gpu  # before torch looks
    serve(arguments, sys.stdin.buffer, channel)


if __name__ == "__main__":
    main()
