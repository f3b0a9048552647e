#!/usr/bin/env python3
"""Every reference as a plan, on this machine's GPU (or CPU): outputs and state against eager's, bit for bit, and planned against real strides.

    KAGENT_PYTHON=python3 python3 tests/gpu/null_plans.py --build build/release [--backend cuda|cpu] [TASK_FILE...]

Without files: the tasks of tasks/level3. Prints one JSON object; exit code 1 when a task differs.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Child:
    def __init__(self, argv: list, gpu: str):
        environment = {"PATH": os.environ["PATH"], "HOME": tempfile.gettempdir(), "CUDA_VISIBLE_DEVICES": gpu}
        environment |= {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "OMP_NUM_THREADS") if name in os.environ}
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)

    def ask(self, **request) -> dict:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"ok": false, "error": {"message": "the process died"}}')
        if not answer["ok"]:
            raise RuntimeError(f"{request['cmd']}: {answer['error']['message']}")
        return answer


DEVICE = {"name": "cpu", "arch": "sm_90a", "sm_count": 132, "shared_per_block": 232448, "shared_per_sm": 233472, "registers_per_sm": 65536, "threads_per_sm": 2048,
          "blocks_per_sm": 32, "max_cluster": 8, "l2_bytes": 62914560, "memory_bytes": 0, "driver": "none"}


def start_worker(python: str, build: str, backend: str) -> tuple[Child, dict]:
    worker = Child([python, "-s", "-E", "-B", f"{ROOT}/harness/worker.py", "--role", "reference", "--backend", backend, "--library", f"{build}/lib/libkagent_harness.so"],
                   "0" if backend == "cuda" else "")
    return worker, worker.ask(cmd="hello")["device"] or DEVICE


def check(path: str, worker: Child, tracer: Child, device: dict) -> dict:
    tracer.ask(cmd="task", file=path)
    worker.ask(cmd="task", file=path, seed=42)
    plan = tracer.ask(cmd="trace_reference", device=device)["plan"]
    # The official reference's own precision, so that the same kernels are chosen.
    loaded = worker.ask(cmd="plan", plan=plan, cubin=None, kernels={}, device=device, reference=True, options={"graph": False, "tf32": False})
    with tempfile.NamedTemporaryFile() as f:
        worker.ask(cmd="run", seed=7, scale=1.0, out=f.name, calls=2)
        compared = worker.ask(cmd="compare", seed=7, scale=1.0, calls=2, file=f.name, tolerance=1e-3, flags="official")
    strides = worker.ask(cmd="strides")
    return {"steps": loaded["steps"], "bitwise": compared["bitwise"], "passed": compared["passed"], "differing_strides": strides["differing"], "reason": compared["reason"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=f"{ROOT}/build/release")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    python = os.environ.get("KAGENT_PYTHON", sys.executable)
    build = os.path.abspath(options.build)
    tracer = Child([python, "-s", "-E", "-B", f"{ROOT}/harness/trace.py", "--seal", f"{build}/lib/libkagent_seal.so"], "")
    worker, device = start_worker(python, build, options.backend)
    table = {}
    for path in options.files or sorted(glob.glob(f"{ROOT}/tasks/level3/*.py")):
        name = os.path.basename(path)
        try:
            if worker.process.poll() is not None:
                worker, device = start_worker(python, build, options.backend)
            table[name] = check(os.path.abspath(path), worker, tracer, device)
        except RuntimeError as error:
            table[name] = {"bitwise": False, "passed": False, "differing_strides": None, "reason": str(error)}
        print(name, table[name], file=sys.stderr, flush=True)
    print(json.dumps(table, indent=1))
    sys.exit(0 if all(r["bitwise"] and r["differing_strides"] == 0 for r in table.values()) else 1)


if __name__ == "__main__":
    main()
