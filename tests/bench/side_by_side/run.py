#!/usr/bin/env python3
"""Answer file -> verdict for task 3/9, by `kagent judge` and by KernelBench-Verified's own evaluator, in turns, in one run.

    python3 tests/bench/side_by_side/run.py --checkout DIR --kagent build/release/bin/kagent --repeats 3

DIR is a KernelBench-Verified checkout (commit 3fdf6fec). Both get the same kernels: kagent as a launch plan, the evaluator as a
load_inline extension, each with a cold compile cache in every repeat. The evaluator runs as its authors call it for a hidden-test
evaluation with 5 correctness and 100 timing trials. Prints one JSON object; needs a GPU.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

EVALUATE = """
import json, sys, time
begin = time.time()
sys.path.insert(0, sys.argv[1])
from unittest.mock import MagicMock
# Clients of language models that the evaluator's package imports and an evaluation never uses.
for name in ("dotenv", "together", "openai", "google", "google.genai", "anthropic", "transformers"):
    sys.modules[name] = MagicMock()
import torch
from src import eval as kb
imported = time.time()
result = kb.eval_kernel_against_ref(open(sys.argv[2]).read(), open(sys.argv[3]).read(), seed_num=42, num_correct_trials=5,
    num_perf_trials=100, measure_performance=True, build_dir=sys.argv[4], device=torch.device("cuda:0"),
    hidden_test_path=kb.get_hidden_test_path(3, 9))
print("RESULT " + json.dumps({"compiled": result.compiled, "correct": result.correctness, "runtime_ms": result.runtime,
    "import_s": imported - begin, "eval_s": time.time() - imported, "metadata": {k: str(v)[:300] for k, v in result.metadata.items()}}))
"""


def text(name: str) -> str:
    with open(os.path.join(HERE, name)) as f:
        return f.read()


def run_kagent(program: str, folder: str) -> dict:
    answer = os.path.join(folder, "answer.md")
    with open(answer, "w") as f:
        f.write(f"```cuda\n{text('kernels.cu')}```\n```python\n{text('host_kagent.py')}```\n")
    environment = dict(os.environ, KAGENT_CACHE=os.path.join(folder, "cache"))
    begin = time.time()
    done = subprocess.run([program, "judge", "--task", "3/9", "--answer", answer, "--json"], capture_output=True, text=True, env=environment)
    elapsed = time.time() - begin
    try:
        verdict = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"kagent judge printed no JSON: {done.stdout[-500:]} {done.stderr[-2000:]}")
    return {"wall_s": elapsed, "outcome": verdict["outcome"], "reason": verdict["reason"], "speedup": verdict["speedup"],
            "candidate": verdict.get("candidate"), "phases": verdict["phases"]}


def run_official(checkout: str, folder: str) -> dict:
    answer = os.path.join(folder, "answer.py")
    with open(answer, "w") as f:
        f.write("CUDA_SOURCE = r'''\n" + text("kernels.cu") + "'''\n" + text("host_load_inline.py"))
    reference = os.path.join(checkout, "KernelBench", "level3", "9_ResNet18.py")
    environment = dict(os.environ, TORCH_EXTENSIONS_DIR=os.path.join(folder, "extensions"), TORCH_CUDA_ARCH_LIST="9.0")
    begin = time.time()
    done = subprocess.run([sys.executable, "-c", EVALUATE, checkout, reference, answer, os.path.join(folder, "build")],
                          capture_output=True, text=True, env=environment)
    elapsed = time.time() - begin
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not lines:
        sys.exit(f"the evaluator failed: {done.stdout[-2000:]} {done.stderr[-3000:]}")
    return {"wall_s": elapsed, **json.loads(lines[-1][len("RESULT "):])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", required=True)
    parser.add_argument("--kagent", default="build/release/bin/kagent")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    ours, theirs = [], []
    for _ in range(options.repeats):
        for runs, runner in ((ours, lambda d: run_kagent(options.kagent, d)), (theirs, lambda d: run_official(options.checkout, d))):
            folder = tempfile.mkdtemp(prefix="kagent-side-")
            runs.append(runner(folder))
            shutil.rmtree(folder, ignore_errors=True)
            print(runs[-1], file=sys.stderr, flush=True)
    medians = [statistics.median(r["wall_s"] for r in runs) for runs in (ours, theirs)]
    print(json.dumps({"kagent_median_s": medians[0], "official_median_s": medians[1], "ratio": medians[1] / medians[0],
                      "kagent": ours, "official": theirs}, indent=1))


if __name__ == "__main__":
    main()
