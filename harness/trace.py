"""The tracer: runs host programs once on tensors without data and prints their plans (docs/protocol.md, "Tracer")."""
from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import sys

HARNESS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HARNESS)

# What torch and the loader may need. Anything else, and every secret with it, must not be in this process's memory: a started program finds its first
# environment on its stack for as long as it lives, cleared or not, so the tracer starts itself anew with these alone. And with a fixed hash seed: the
# same program gives the same plan, even one that walks through a set of names.
KEPT_ENVIRONMENT = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
if __name__ == "__main__" and (sys.flags.hash_randomization or set(os.environ) - {*KEPT_ENVIRONMENT, "PYTHONHASHSEED"}):
    kept = {k: v for k, v in os.environ.items() if k in KEPT_ENVIRONMENT}
    os.execve(sys.executable, [sys.executable, "-s", *sys.argv], {**kept, "PYTHONHASHSEED": "0"})


def seal_library() -> str:
    """`--seal PATH`, else the newest that was built beside this checkout."""
    if "--seal" in sys.argv[:-1]:
        return sys.argv[sys.argv.index("--seal") + 1]
    builds = os.path.join(os.path.dirname(HARNESS), "build")
    built = glob.glob(os.path.join(builds, "*", "lib", "libkagent_seal.so"))
    return max(built, key=os.path.getmtime, default=os.path.join(builds, "release", "lib", "libkagent_seal.so"))


# Tensors here say they are on CUDA and are not. The CUDA runtime must find no driver, as on a machine without a GPU: a forked child of a process that
# has started CUDA cannot use it, and a sealed one could not open the device. The stand-in carries the driver's name and nothing else; torch's
# libraries look for a driver as they load, so it comes first.
SEAL = seal_library()
with contextlib.suppress(OSError):  # without it there is no seal beside it either: hello says so
    ctypes.CDLL(os.path.join(os.path.dirname(SEAL), "libkagent_no_driver.so"), mode=ctypes.RTLD_GLOBAL)

from tracer import serve  # noqa: E402

if __name__ == "__main__":
    serve.main(SEAL)
