"""Facts of the GPU (docs/protocol.md, "Device facts")."""

from __future__ import annotations

from typing import Any

from measure.driver import driver
from measure.nvml import nvml

# CUdevice_attribute numbers (cuda.h).
_MAJOR, _MINOR, _SM_COUNT = 75, 76, 16
_ATTRIBUTES = {"shared_per_block": 97, "shared_per_sm": 81, "registers_per_sm": 82, "threads_per_sm": 39,
               "blocks_per_sm": 106, "l2_bytes": 38}
_CLUSTERS_FROM_MAJOR = 9
_PORTABLE_CLUSTER = 8


def device_facts() -> dict[str, Any]:
    """Of the first visible GPU. Raises NoGpu."""
    gpu = driver()
    major = gpu.attribute(_MAJOR)
    return {"name": gpu.name(), "arch": arch_of(major, gpu.attribute(_MINOR)), "sm_count": gpu.attribute(_SM_COUNT),
            **{name: gpu.attribute(number) for name, number in _ATTRIBUTES.items()},
            "max_cluster": _PORTABLE_CLUSTER if major >= _CLUSTERS_FROM_MAJOR else 1,
            "memory_bytes": gpu.memory_bytes(), "driver": nvml().driver_version() or "unknown"}


def arch_of(major: int, minor: int) -> str:
    """The target with what only this architecture has (wgmma, TMA on Hopper)."""
    return f"sm_{major}{minor}" + ("a" if (major, minor) == (9, 0) else "")
