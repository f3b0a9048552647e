"""Answers hello with the GPU's facts and nothing else, without torch: a prompt needs them before any worker is warm
(docs/protocol.md, "Probe")."""

from __future__ import annotations

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from measure.device import device_facts  # noqa: E402
from measure.driver import NoGpu  # noqa: E402


def answer() -> dict:
    try:
        return {"ok": True, "device": device_facts()}
    except NoGpu as error:
        return {"ok": False, "error": {"stage": "internal", "kind": "no_gpu", "message": str(error), "line": None, "block": "", "detail": ""}}


def main() -> None:
    for _ in sys.stdin:
        print(json.dumps(answer()), flush=True)


if __name__ == "__main__":
    main()
