"""The tracer: runs host programs once on tensors without data and prints their plans (docs/protocol.md, "Tracer")."""
from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# What torch and the loader may need. Anything else, and every secret with it, must not be in this process's memory: a started program finds its first
# environment on its stack for as long as it lives, cleared or not, so the tracer starts itself anew with these alone. And with a fixed hash seed: the
# same program gives the same plan, even one that walks through a set of names.
KEPT_ENVIRONMENT = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
if __name__ == "__main__" and (sys.flags.hash_randomization or set(os.environ) - {*KEPT_ENVIRONMENT, "PYTHONHASHSEED"}):
    kept = {k: v for k, v in os.environ.items() if k in KEPT_ENVIRONMENT}
    os.execve(sys.executable, [sys.executable, "-s", "-B", *sys.argv], {**kept, "PYTHONHASHSEED": "0"})

from tracer import server  # noqa: E402

if __name__ == "__main__":
    server.main()
