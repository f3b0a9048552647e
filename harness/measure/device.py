"""Facts of the GPU (docs/protocol.md, "Device facts")."""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from measure.nvml import nvml
from model.failure import Failure

# CUdevice_attribute numbers (cuda.h).
_ATTRIBUTES = {"shared_per_block": 97, "shared_per_sm": 81, "registers_per_sm": 82, "threads_per_sm": 39,
               "blocks_per_sm": 106, "l2_bytes": 38}
_CLUSTERS_FROM_MAJOR = 9
_PORTABLE_CLUSTER = 8


def device_facts() -> dict[str, Any]:
    """Of the current CUDA device."""
    index = torch.cuda.current_device()
    properties = torch.cuda.get_device_properties(index)
    return {"name": properties.name, "arch": arch_of(properties.major, properties.minor),
            "sm_count": properties.multi_processor_count, **_attributes(index),
            "max_cluster": _PORTABLE_CLUSTER if properties.major >= _CLUSTERS_FROM_MAJOR else 1,
            "memory_bytes": properties.total_memory, "driver": nvml().driver_version() or "unknown"}


def arch_of(major: int, minor: int) -> str:
    """The target with what only this architecture has (wgmma, TMA on Hopper)."""
    return f"sm_{major}{minor}" + ("a" if (major, minor) == (9, 0) else "")


def _attributes(index: int) -> dict[str, int]:
    driver = ctypes.CDLL("libcuda.so.1")  # torch has it loaded and initialised
    device = ctypes.c_int()
    if driver.cuDeviceGet(ctypes.byref(device), index) != 0:
        raise Failure("internal", "no_gpu", f"the driver does not know device {index}")
    return {name: _attribute(driver, device, name, number) for name, number in _ATTRIBUTES.items()}


def _attribute(driver: ctypes.CDLL, device: ctypes.c_int, name: str, number: int) -> int:
    value = ctypes.c_int()
    if driver.cuDeviceGetAttribute(ctypes.byref(value), number, device) != 0:
        raise Failure("internal", "no_gpu", f"the driver does not tell {name} (attribute {number})")
    return value.value
