"""Imports torch once and forks workers (docs/protocol.md, "Fork server").

Importing torch takes seconds and is the same for all of them. This process does it, starts no CUDA, sees neither a task nor an answer,
and holds no secret: its child is what a fresh process would be, sooner. (The tracer is no child of it: there the driver must be missing
from the start.)
"""
from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import sys
import time
import traceback

HARNESS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HARNESS)
PROGRAMS = {"worker.py": "worker"}  # script: the module whose main() it is
# The last three are what tensors without data import at their first use. That use itself would start CUDA, after which there is no forking.
PRELOADED = ("model.commands", "check.commands", "measure.commands", "torch._dynamo.config", "torch._functorch.config",
             "torch.fx.experimental.symbolic_shapes")
_PR_SET_PDEATHSIG = 1


def preload() -> None:
    from plan import no_compiler

    no_compiler.keep_out()
    for module in (*PROGRAMS.values(), *PRELOADED):
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # a worker collects after every request: only what it made itself


def fork(request: dict, fds: list[int]) -> int:
    """The process id of the new process, an orphan: whoever adopts orphans (kagent) sees it end."""
    reader, writer = os.pipe()
    middle = os.fork()
    if middle == 0:
        middle = os.getpid()
        child = os.fork()
        if child == 0:
            become(request, fds, middle)
        os.setpgid(child, child)  # here too: whoever reads the number may signal the group at once
        os.write(writer, str(child).encode())
        os._exit(0)
    os.close(writer)
    number = os.read(reader, 32)
    os.close(reader)
    os.waitpid(middle, 0)
    return int(number)


def end_with_adopter(parent: int) -> None:
    """kagent may be killed while this process waits for a kernel that never ends, deaf to the end of its input: it would stay on
    the GPU and slow down whoever is timed next. Returns once `parent` has ended and the adopter's end will be this process's."""
    while (adopter := os.getppid()) == parent:
        time.sleep(0.0002)
    if ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) != 0 or os.getppid() != adopter:
        os._exit(1)


def become(request: dict, fds: list[int], parent: int) -> None:
    code = 1
    try:
        os.setpgid(0, 0)
        end_with_adopter(parent)
        for target, fd in enumerate(fds):
            os.dup2(fd, target)
        os.closerange(3, 65536)
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.argv = request["argv"]
        importlib.import_module(PROGRAMS[os.path.basename(sys.argv[0])]).main()
        code = 0
    except BaseException:  # noqa: BLE001  nothing may escape into the server's loop
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    channel = socket.socket(fileno=os.dup(0))
    preload()
    while True:
        data, fds, _, _ = socket.recv_fds(channel, 1 << 16, 3)
        if not data:
            return
        try:
            reply = {"ok": True, "pid": fork(json.loads(data), fds)}
        except (OSError, ValueError) as error:
            reply = {"ok": False, "message": str(error)}
        finally:
            for fd in fds:
                os.close(fd)
        channel.send(json.dumps(reply).encode())


if __name__ == "__main__":
    main()
