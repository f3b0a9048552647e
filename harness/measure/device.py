"""Facts of the GPU (docs/protocol.md, "device facts") and who else is on it."""
from __future__ import annotations

import ctypes
import os
from typing import Any

import torch

# CUdevice_attribute numbers (cuda.h).
_SHARED_PER_BLOCK_OPTIN, _SHARED_PER_SM, _REGISTERS_PER_SM, _THREADS_PER_SM, _BLOCKS_PER_SM, _L2 = 97, 81, 82, 39, 106, 38


def device_facts() -> dict[str, Any]:
    """Of the current CUDA device."""
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    driver = ctypes.CDLL("libcuda.so.1")
    device = ctypes.c_int()
    driver.cuDeviceGet(ctypes.byref(device), torch.cuda.current_device())

    def attribute(number: int) -> int:
        value = ctypes.c_int()
        if driver.cuDeviceGetAttribute(ctypes.byref(value), number, device) != 0:
            raise RuntimeError(f"cuDeviceGetAttribute({number}) failed")
        return value.value

    major, minor = properties.major, properties.minor
    return {"name": properties.name, "arch": f"sm_{major}{minor}" + ("a" if (major, minor) == (9, 0) else ""), "sm_count": properties.multi_processor_count,
            "shared_per_block": attribute(_SHARED_PER_BLOCK_OPTIN), "shared_per_sm": attribute(_SHARED_PER_SM), "registers_per_sm": attribute(_REGISTERS_PER_SM),
            "threads_per_sm": attribute(_THREADS_PER_SM), "blocks_per_sm": attribute(_BLOCKS_PER_SM), "max_cluster": 8 if major >= 9 else 1,
            "l2_bytes": attribute(_L2), "memory_bytes": properties.total_memory, "driver": _driver_version()}


class _Nvml:
    """NVML, if it is there. Every question answers None where it cannot be answered."""

    class _Process(ctypes.Structure):
        _fields_ = [("pid", ctypes.c_uint), ("bytes", ctypes.c_ulonglong), ("gpu_instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint)]

    def __init__(self):
        self.handle = None
        try:
            self.lib = ctypes.CDLL("libnvidia-ml.so.1")
            if self.lib.nvmlInit_v2() != 0:
                return
            uuid = "GPU-" + str(torch.cuda.get_device_properties(torch.cuda.current_device()).uuid)
            handle = ctypes.c_void_p()
            if self.lib.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(handle)) == 0:
                self.handle = handle
        except (OSError, AttributeError, RuntimeError):
            self.handle = None

    def driver(self) -> str | None:
        text = ctypes.create_string_buffer(96)
        if self.handle is None or self.lib.nvmlSystemGetDriverVersion(text, 96) != 0:
            return None
        return text.value.decode(errors="replace")

    def number(self, call: str, *arguments) -> int | None:
        value = ctypes.c_ulonglong()
        if self.handle is None or getattr(self.lib, call)(self.handle, *arguments, ctypes.byref(value)) != 0:
            return None
        return value.value

    def processes(self) -> list[dict[str, Any]]:
        if self.handle is None:
            return []
        count = ctypes.c_uint(64)
        found = (self._Process * 64)()
        if self.lib.nvmlDeviceGetComputeRunningProcesses_v3(self.handle, ctypes.byref(count), found) != 0:
            return []
        return [{"pid": p.pid, "name": _process_name(p.pid), "bytes": p.bytes} for p in found[:count.value]]


_nvml: _Nvml | None = None


def nvml() -> _Nvml:
    global _nvml
    _nvml = _nvml or _Nvml()
    return _nvml


def gpu_processes() -> list[dict[str, Any]]:
    """Processes that hold GPU memory, our own session's left out."""
    own = os.getsid(0)
    return [p for p in nvml().processes() if not _same_session(p["pid"], own)]


def clocks() -> dict[str, Any]:
    """SM and memory clock in MHz, throttle reasons as NVML's bit mask."""
    n = nvml()
    return {"sm_mhz": n.number("nvmlDeviceGetClockInfo", 1), "memory_mhz": n.number("nvmlDeviceGetClockInfo", 2),
            "throttle_reasons": n.number("nvmlDeviceGetCurrentClocksThrottleReasons"), "temperature_c": n.number("nvmlDeviceGetTemperature", 0)}


def _driver_version() -> str:
    return nvml().driver() or "unknown"


def _process_name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
            return f.read().strip()
    except OSError:
        return "unknown"


def _same_session(pid: int, session: int) -> bool:
    try:
        return os.getsid(pid) == session
    except OSError:
        return False
