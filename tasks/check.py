"""Holds the built-in tasks against what they restate.

    check.py --suite DIR [--device cuda] [3/9 ...]   against a KernelBench or KernelBench-Verified checkout: parameters,
                                                     buffers, inputs, outputs and state after a call, bit for bit
    check.py --recorded [3/9 ...]                    against the digests in manifest.json (no suite needed)
    check.py --record [3/9 ...]                      measures what manifest.json records and writes it there

Exit code: 0 all equal, 1 a difference, 2 something could not be read. One model is in memory at a time: 3/1 needs 6 GB.
"""

import argparse
import ctypes
import gc
import hashlib
import json
import runpy
import sys
import time
from pathlib import Path

import torch

TASKS = Path(__file__).resolve().parent
MANIFEST = TASKS / "manifest.json"
SEED = 42


def digest(tensor: torch.Tensor) -> str:
    """SHA-256 over dtype, shape and bytes: equal digests are equal bits. (numpy is not among torch's dependencies.)"""
    data = tensor.detach().cpu().contiguous()
    sha = hashlib.sha256(f"{data.dtype} {tuple(data.shape)} ".encode())
    if data.numel():
        sha.update(memoryview((ctypes.c_char * (data.numel() * data.element_size())).from_address(data.data_ptr())))
    return sha.hexdigest()


def combined(digests: dict[str, str]) -> str:
    return hashlib.sha256("\n".join(f"{name} {value}" for name, value in digests.items()).encode()).hexdigest()


def tensors_of(value, name: str):
    """Every tensor in a nested structure, with a name."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from tensors_of(item, f"{name}[{index}]")


def seeded(function, *args):
    """As KernelBench's evaluator does: the seed is set anew before each of constructor arguments, model and inputs."""
    torch.manual_seed(SEED)
    return function(*args)


class Fingerprint:
    """What a task file gives for one seed."""

    def __init__(self, path: Path, device: str, run: bool):
        module = runpy.run_path(str(path))
        model = seeded(module["Model"], *seeded(module["get_init_inputs"]))
        inputs = seeded(module["get_inputs"])
        self.parameter_count = sum(parameter.numel() for parameter in model.parameters())
        self.inputs_seen = [
            {"shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch.")}
            for _, tensor in tensors_of(inputs, "input")
        ]
        self.parts = {
            "parameters": {name: digest(tensor) for name, tensor in model.named_parameters()},
            "buffers": {name: digest(tensor) for name, tensor in model.named_buffers()},
            "inputs": {name: digest(tensor) for name, tensor in tensors_of(inputs, "input")},
        }
        if run:
            self.parts |= self.run(model.to(device), [move(item, device) for item in inputs])

    @staticmethod
    @torch.no_grad()
    def run(model, inputs) -> dict[str, dict[str, str]]:
        torch.manual_seed(SEED)
        outputs = model(*inputs)
        return {
            "outputs": {name: digest(tensor) for name, tensor in tensors_of(outputs, "output")},
            "state after": {name: digest(tensor) for name, tensor in model.named_buffers()},
        }


def move(item, device: str):
    return item.to(device) if isinstance(item, torch.Tensor) else item


def fingerprint(path: Path, device: str = "cpu", run: bool = False) -> Fingerprint:
    result = Fingerprint(path, device, run)
    gc.collect()
    if device != "cpu":
        torch.cuda.empty_cache()
    return result


def suite_file(suite: Path, task: dict) -> Path:
    level = f"level{task['id'].split('/')[0]}"
    for folder in (suite / "KernelBench" / level, suite / "KernelBench" / "KernelBench" / level, suite / level):
        if (folder / task["upstream"]).is_file():
            return folder / task["upstream"]
    raise FileNotFoundError(
        f"no {level}/{task['upstream']} under {suite}: --suite wants the root of a KernelBench or "
        "KernelBench-Verified checkout"
    )


def difference(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """Empty when equal. Order counts: it is the order in which a seed is spent."""
    if list(ours) != list(theirs):
        missing, extra = [n for n in theirs if n not in ours], [n for n in ours if n not in theirs]
        return f"names or order differ (missing {missing[:3]}, extra {extra[:3]})"
    unequal = [name for name in ours if ours[name] != theirs[name]]
    return f"{len(unequal)} of {len(ours)} differ, first {unequal[0]}" if unequal else ""


def compare_with_suite(task: dict, suite: Path, device: str) -> bool:
    begin = time.monotonic()
    theirs = fingerprint(suite_file(suite, task), device, run=True).parts
    ours = fingerprint(TASKS / task["file"], device, run=True).parts
    equal = True
    for part in theirs:
        problem = difference(ours[part], theirs[part])
        equal &= not problem
        print(f"{task['id']:>6}  {part:<12} {len(theirs[part]):>4}  {problem or 'equal'}", flush=True)
    print(f"{task['id']:>6}  {device}, {time.monotonic() - begin:.1f} s", flush=True)
    return equal


def facts(task: dict) -> dict:
    """What the manifest records of a task file."""
    seen = fingerprint(TASKS / task["file"])
    return {
        "inputs": seen.inputs_seen,
        "parameter_count": seen.parameter_count,
        "seed_42": {part: combined(digests) for part, digests in seen.parts.items()},
    }


def compare_with_record(task: dict) -> bool:
    wrong = [key for key, value in facts(task).items() if task.get(key) != value]
    print(f"{task['id']:>6}  {'differs from manifest.json: ' + ', '.join(wrong) if wrong else 'as recorded'}", flush=True)
    return not wrong


def chosen(manifest: dict, ids: list[str]) -> list[dict]:
    unknown = set(ids) - {task["id"] for task in manifest["tasks"]}
    if unknown:
        raise FileNotFoundError(f"not in the manifest: {', '.join(sorted(unknown))}")
    return [task for task in manifest["tasks"] if not ids or task["id"] in ids]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--suite", type=Path, metavar="DIR")
    mode.add_argument("--recorded", action="store_true")
    mode.add_argument("--record", action="store_true")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"], help="where --suite runs both models")
    parser.add_argument("tasks", nargs="*", help="task ids; all when left out")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: torch sees no GPU here")
    try:
        manifest = json.loads(MANIFEST.read_text())
        tasks = chosen(manifest, options.tasks)
        if options.record:
            for task in tasks:
                task.update(facts(task))
            MANIFEST.write_text(json.dumps(manifest, indent=2) + "\n")
            return 0
        check = compare_with_record if options.recorded else lambda t: compare_with_suite(t, options.suite, options.device)
        failed = [task["id"] for task in tasks if not check(task)]
    except OSError as error:
        print(f"check-tasks: {error}", file=sys.stderr)
        return 2
    print(f"{len(tasks) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
