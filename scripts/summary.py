"""Prints what set-up found on this machine, one fact a line. `./dev doctor` says what to do about what is missing."""

import ctypes
import glob
import importlib.metadata
import importlib.util
import os
import sys
from pathlib import Path

TOOLKITS = [os.environ.get("KAGENT_CUDA_ROOT"), os.environ.get("CUDA_HOME"), "/usr/local/cuda"]


def wheels() -> Path:
    """Where torch's wheels put CUDA: site-packages/nvidia/cu13."""
    spec = importlib.util.find_spec("torch")
    return Path(spec.origin).parent.parent / "nvidia" / "cu13" if spec and spec.origin else Path("/nonexistent")


def first(pattern: str) -> str:
    roots = [wheels(), *(Path(root) for root in TOOLKITS if root)]
    found = (match for root in roots for match in sorted(glob.glob(str(root / pattern))))
    return next(found, "none")


def library(stem: str) -> str:
    for folder in ("lib", "lib64", "extras/CUPTI/lib64"):
        if (path := first(f"{folder}/{stem}.so.*")) != "none":
            return path
    return "none"


def gpu() -> str:
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "none (no driver: libcuda.so.1)"
    count, name = ctypes.c_int(), ctypes.create_string_buffer(128)
    if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        return "none (a driver, and no device)"
    cuda.cuDeviceGetName(name, len(name), 0)
    return f"{count.value} x {name.value.decode()}"


def landlock() -> str:
    """landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) gives the kernel's version of it."""
    version = ctypes.CDLL(None).syscall(444, None, 0, 1)
    return f"version {version}" if version > 0 else "none"


def seccomp() -> str:
    actions = Path("/proc/sys/kernel/seccomp/actions_avail")
    return "filters" if actions.exists() and "errno" in actions.read_text() else "none"


def main() -> None:
    compiler, cmake = sys.argv[1:3]
    facts = {
        "compiler": compiler,
        "cmake": cmake.removeprefix("cmake version "),
        "python": f"{sys.version.split()[0]} ({sys.executable})",
        "torch": importlib.metadata.version("torch"),
        "CUDA headers": first("include/cuda.h"),
        "CCCL headers": first("include/cccl/cuda/std/cassert"),
        "NVRTC": library("libnvrtc"),
        "CUPTI": library("libcupti"),
        "GPU": gpu(),
        "Landlock": landlock(),
        "seccomp": seccomp(),
    }
    print("found:")
    for name, fact in facts.items():
        print(f"  {name:<13} {fact}")


if __name__ == "__main__":
    main()
