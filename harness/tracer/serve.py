"""The tracer's process: a line in, a line out.

A warm parent builds the task's model on tensors without data. Each trace happens in a fork of it, made before the request is read: the
parent never holds an answer, so that a later one has nothing to find. The fork runs the host program in a sealed child of its own. The
parent sheds its environment too.
"""
from __future__ import annotations

import json
import os
import re
import signal

from tracer.errors import explain
from tracer.sealed import SealError, die_with_parent
from tracer.server import Server, failed

# `cmd` comes first in a request. Enough of the line to tell a trace by, and nothing of its program:
_TRACE = re.compile(rb'\{"cmd": ?"trace"[,}]')
_HEAD_BYTES = 16


class Requests:
    """The lines of a descriptor; the beginning of one can be looked at before the rest is read."""

    def __init__(self, fd: int):
        self._fd = fd
        self.pending = b""

    def head(self) -> bytes:
        """The next line's first bytes, b"" at the end."""
        while len(self.pending) < _HEAD_BYTES and b"\n" not in self.pending and self._more(_HEAD_BYTES - len(self.pending)):
            pass
        return self.pending

    def line(self) -> bytes:
        while b"\n" not in self.pending and self._more(1 << 16):
            pass
        line, _, self.pending = self.pending.partition(b"\n")
        return line

    def _more(self, most: int) -> bool:
        chunk = os.read(self._fd, most)
        self.pending += chunk
        return bool(chunk)


def answer(handlers: dict, line: bytes) -> dict:
    try:
        request = json.loads(line)
        command = request.get("cmd")
        handler = handlers.get(command) if isinstance(command, str) else None
        return handler(request) if handler else failed("internal", "bad_request", f"unknown cmd {command!r:.80}; known here: {', '.join(handlers)}")
    except SealError as error:
        return failed("internal", "no_seal", f"{error}; host programs run only where the tracer can be sealed")
    except BaseException as error:  # noqa: BLE001  one answer to each request
        return failed("internal", "task_error", explain(error)[1])


def write_line(channel: int, reply: dict) -> None:
    data = json.dumps(reply).encode() + b"\n"
    while data:
        data = data[os.write(channel, data):]


def in_fork(requests: Requests, handlers: dict, channel: int) -> bool:
    """Reads and answers the next request in a fork. False when the fork died without an answer."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            die_with_parent()
            write_line(channel, answer(handlers, requests.line()))
            os.write(writer, requests.pending)  # what was read too far belongs to the next request
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writer)
    requests.pending = b""
    while chunk := os.read(reader, 1 << 16):
        requests.pending += chunk
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    return status == 0


def end_with_parent() -> None:
    """kagent may be killed while a task file of its user's loops in this process, deaf to the end of its input. A signal at the parent's
    death (prctl) would come when the *thread* that started this process ends. No fork inherits the timer, and a sealed child replaces the handler."""
    parent = os.getppid()

    def look(signum, frame) -> None:
        if os.getppid() != parent:
            os._exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.siginterrupt(signal.SIGALRM, False)  # no library sees a call of its own broken off
    signal.setitimer(signal.ITIMER_REAL, 1, 1)


def main(seal: str) -> None:
    """`seal`: the path of libkagent_seal.so."""
    end_with_parent()
    os.environ.clear()
    channel = os.dup(1)
    os.dup2(2, 1)  # what task files print is not protocol
    requests = Requests(0)
    server: Server | None = None
    while requests.head():
        if server is None:
            try:
                server = Server(seal)
            except SealError as error:
                requests.line()
                write_line(channel, failed("internal", "no_seal", f"{error}; host programs run only where the tracer can be sealed"))
                continue
        if _TRACE.match(requests.pending):
            if not in_fork(requests, {"trace": server.trace}, channel):
                write_line(channel, failed("internal", "crashed", "the tracer's fork died"))
                return  # how much of the line it had read is not known
        else:
            handlers = {"hello": server.hello, "task": server.load, "trace_reference": server.trace_reference}
            write_line(channel, answer(handlers, requests.line()))
