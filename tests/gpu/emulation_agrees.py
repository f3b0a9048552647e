#!/usr/bin/env python3
"""Recorded answers that a GPU judged, judged again by emulation: each that can be emulated must get the same verdict on correctness.

    python3 tests/gpu/emulation_agrees.py --kagent build/release/bin/kagent [RUN ...]     (default: every run under runs/ judged on a GPU)

Needs no GPU: the verdict of the GPU stands in the log. Prints a table; exit code 1 if a verdict differs. Undecided (a word that the
emulation does not know, or too much work for this CPU) is no difference.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def judged_answers(run: str):
    """(task, sample, answer's text, the GPU's verdict) of a run directory."""
    for folder in sorted(os.listdir(os.path.join(run, "tasks"))):
        answers = {}
        with open(os.path.join(run, "tasks", folder, "events.jsonl"), encoding="utf-8") as log:
            for event in map(json.loads, log):
                if event["kind"] == "reply":
                    answers[event["sample"]] = event["answer_sha256"]
                if event["kind"] == "verdict" and event["verdict"].get("backend") == "cuda":
                    sha = answers[event["sample"]]
                    with open(os.path.join(run, "blobs", sha[:2], sha), encoding="utf-8") as blob:
                        yield folder.replace("-", "/"), event["sample"], blob.read(), event["verdict"]


def emulated(kagent: str, task: str, answer: str, seconds: int) -> dict:
    with tempfile.NamedTemporaryFile("w", suffix=".md", encoding="utf-8") as file:
        file.write(answer)
        file.flush()
        command = [kagent, "judge", "--task", task, "--answer", file.name, "--backend", "emulate", "--json"]
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return {"outcome": "undecided", "reason": f"more than {seconds} s"}
    return json.loads(said.stdout) if said.stdout.strip() else {"outcome": "error", "reason": said.stderr.strip()[-200:]}


def agreement(gpu: dict, cpu: dict) -> str:
    if cpu["outcome"] == "undecided":
        return "undecided"
    return "same" if cpu["outcome"] == gpu["outcome"] else "DIFFERS"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*")
    parser.add_argument("--kagent", default=os.path.join(ROOT, "build", "release", "bin", "kagent"))
    parser.add_argument("--seconds", type=int, default=600, help="for each answer")
    options = parser.parse_args()
    runs = options.runs or sorted(entry.path for entry in os.scandir(os.path.join(ROOT, "runs")) if os.path.isdir(os.path.join(entry.path, "tasks")))
    differs = 0
    print("| run | task | sample | cuda | emulate | |\n|---|---|---|---|---|---|")
    for run in runs:
        for task, sample, answer, gpu in judged_answers(run):
            cpu = emulated(options.kagent, task, answer, options.seconds)
            said = agreement(gpu, cpu)
            differs += said == "DIFFERS"
            why = f": {cpu.get('reason')}"[:90] if said != "same" else ""
            print(f"| {os.path.basename(run)} | {task} | {sample} | {gpu['outcome']} ({gpu.get('stage') or 'all'}) | {cpu['outcome']}{why} | {said} |", flush=True)
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
