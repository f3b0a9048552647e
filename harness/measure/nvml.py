"""NVML by ctypes, where it is there: who else is on the GPU, and its clocks. What it does not tell is None or empty."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

from measure.driver import NoGpu, driver

# Numbers of nvml.h.
_CLOCK_SM, _CLOCK_MEMORY, _TEMPERATURE_GPU = 1, 2, 0
_MOST_PROCESSES = 64
_THROTTLE = {0x1: "idle", 0x2: "application_clocks", 0x4: "power_cap", 0x8: "hardware_slowdown", 0x10: "sync_boost",
             0x20: "thermal_software", 0x40: "thermal_hardware", 0x80: "power_brake", 0x100: "display_clocks"}
_SLOWED = 0x8 | 0x20 | 0x40 | 0x80


class _Process(ctypes.Structure):  # nvmlProcessInfo_t
    _fields_ = [("pid", ctypes.c_uint), ("bytes", ctypes.c_ulonglong), ("gpu_instance", ctypes.c_uint),
                ("compute_instance", ctypes.c_uint)]


class Nvml:
    def __init__(self) -> None:
        self._handle: ctypes.c_void_p | None = None
        try:
            self._library = ctypes.CDLL("libnvidia-ml.so.1")
            if self._library.nvmlInit_v2() != 0:
                return
            handle = ctypes.c_void_p()
            if self._library.nvmlDeviceGetHandleByUUID(driver().uuid().encode(), ctypes.byref(handle)) == 0:
                self._handle = handle
        except (OSError, AttributeError, NoGpu):  # no NVML, an old one, or no GPU
            self._handle = None

    def driver_version(self) -> str | None:
        text = ctypes.create_string_buffer(96)
        if self._handle is None or self._library.nvmlSystemGetDriverVersion(text, len(text)) != 0:
            return None
        return text.value.decode(errors="replace")

    def number(self, function: str, *arguments: int) -> int | None:
        value = ctypes.c_ulonglong()  # wide enough for the functions that write 32 bits, and zero above them
        if self._handle is None:
            return None
        call = getattr(self._library, function, None)
        return value.value if call and call(self._handle, *arguments, ctypes.byref(value)) == 0 else None

    def processes(self) -> list[dict[str, Any]]:
        call = getattr(self._library, "nvmlDeviceGetComputeRunningProcesses_v3", None) if self._handle else None
        count, found = ctypes.c_uint(_MOST_PROCESSES), (_Process * _MOST_PROCESSES)()
        if call is None or call(self._handle, ctypes.byref(count), found) != 0:
            return []
        return [{"pid": p.pid, "name": _process_name(p.pid), "bytes": _known(p.bytes)} for p in found[:count.value]]


@functools.cache
def nvml() -> Nvml:
    return Nvml()


def gpu_processes() -> list[dict[str, Any]]:
    """Processes that hold GPU memory; kagent's own (this worker and its sibling) are left out. A process that /proc does not
    show is left out too: in a container NVML may number our own as the host does."""
    own = os.getppid()
    return [process for process in nvml().processes() if _parent_of(process["pid"]) not in (None, own)]


def clocks() -> dict[str, Any]:
    """Clocks in MHz, and why they are held down: NVML's bit mask and its words."""
    mask = nvml().number("nvmlDeviceGetCurrentClocksThrottleReasons")
    return {"sm_mhz": nvml().number("nvmlDeviceGetClockInfo", _CLOCK_SM),
            "memory_mhz": nvml().number("nvmlDeviceGetClockInfo", _CLOCK_MEMORY),
            "temperature_c": nvml().number("nvmlDeviceGetTemperature", _TEMPERATURE_GPU),
            "throttle_reasons": mask, "throttled_by": throttle_words(mask or 0)}


def slowed_by() -> list[str]:
    """Why the clocks are held down now by heat or by the hardware: what is timed meanwhile says little. The power cap is no such reason:
    large products run at it all the time."""
    return throttle_words((nvml().number("nvmlDeviceGetCurrentClocksThrottleReasons") or 0) & _SLOWED)


def throttle_words(mask: int) -> list[str]:
    return [word for bit, word in _THROTTLE.items() if mask & bit]


def _known(size: int) -> int | None:
    return None if size == 2**64 - 1 else size  # NVML_VALUE_NOT_AVAILABLE


def _process_name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "unknown"


def _parent_of(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
