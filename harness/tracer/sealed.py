"""Runs one function in a sealed child and gives back the bytes it wrote. The child is hostile from the first line of the host
program on: it can write what it likes into its pipe and nowhere else, and it is killed at its deadline."""
from __future__ import annotations

import ctypes
import os
import select
import signal
import sysconfig
import time
from typing import Callable

from tracer.errors import TraceError

MAX_OUTPUT_BYTES = 24 << 20
CPU_SLACK_S = 5


class SealError(Exception):
    """The process cannot be sealed here."""


class Seal:
    """The seal library (harness/seal)."""

    def __init__(self, library: str):
        try:
            self._lib = ctypes.CDLL(library)
        except OSError as error:
            raise SealError(f"cannot load the seal {library}: {error}") from error
        self._lib.kagent_seal.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_long, ctypes.c_char_p, ctypes.c_int]

    def probe(self) -> str:
        text = ctypes.create_string_buffer(400)
        if self._lib.kagent_seal_probe(text, 400) != 0:
            raise SealError(text.value.decode(errors="replace"))
        return text.value.decode(errors="replace")

    def close(self, readable: list[str], cpu_seconds: int, memory_bytes: int) -> None:
        text = ctypes.create_string_buffer(400)
        if self._lib.kagent_seal("\n".join(readable).encode(), cpu_seconds, memory_bytes, text, 400) != 0:
            raise SealError(text.value.decode(errors="replace"))


_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """A process whose parent was killed has nobody left to end it at its deadline."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def python_folders(here: str) -> list[str]:
    """What a late import may read: the standard library, installed packages, our own modules."""
    paths = sysconfig.get_paths()
    return sorted({paths[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")} | {here, "/dev/null"})


def _late(signum, frame) -> None:
    raise TraceError("deadline", "the host program takes too long: it must only describe the work, not do it")


def _in_child(seal: Seal, work: Callable[[], bytes], out: int, readable: list[str], seconds: int) -> None:
    os.environ.clear()  # torch sets some of its own
    die_with_parent()
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.dup2(out, 3)
    os.closerange(4, 65536)
    signal.signal(signal.SIGALRM, _late)  # says the line; the parent's own deadline needs no cooperation
    signal.setitimer(signal.ITIMER_REAL, max(0.1, seconds - 0.5))
    # torch has mapped a lot already: bound what is added on top of it.
    with open("/proc/self/statm", encoding="ascii") as f:
        mapped = int(f.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    seal.close(readable, seconds + CPU_SLACK_S, mapped + (4 << 30))
    data = work()
    while data:
        n = os.write(3, data)
        data = data[n:]


def _ended_by(pid: int, end: float) -> bool:
    """Waits for a child to end, at most until then; leaves its status to be collected."""
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def run(seal: Seal, work: Callable[[], bytes], here: str, seconds: int) -> tuple[bytes, str]:
    """(what the child wrote, how it ended): "" when it ended well, else "deadline", "too_much" or a sentence."""
    readable = python_folders(here)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _in_child(seal, work, writer, readable, seconds)
            os._exit(0)
        except BaseException:  # noqa: BLE001  nothing may escape into the parent's code
            os._exit(97)
    os.close(writer)
    chunks, size, ended = [], 0, ""
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        ready, _, _ = select.select([reader], [], [], max(left, 0))
        if not ready:
            ended = "deadline"
            break
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            break
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_OUTPUT_BYTES:
            ended = "too_much"
            break
    os.close(reader)
    if not ended and not _ended_by(pid, end):  # it closed its pipe and stays
        ended = "deadline"
    if ended:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if not ended and status != 0:
        code = os.waitstatus_to_exitcode(status)
        ended = "deadline" if -code in (signal.SIGXCPU, signal.SIGKILL) else f"the host program's process ended with {code}"
    return b"".join(chunks), ended
