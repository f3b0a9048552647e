"""The first visible GPU as libcuda tells it, by ctypes: no torch, so that a process can ask within a moment of its start."""

from __future__ import annotations

import ctypes
import functools


class NoGpu(Exception):
    """One line that says why."""


class Driver:
    """Raises NoGpu."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise NoGpu(f"no CUDA driver here: {error}") from error
        self._device = ctypes.c_int()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(self._device), 0)

    def name(self) -> str:
        text = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", text, len(text), self._device)
        return text.value.decode(errors="replace")

    def uuid(self) -> str:
        """As NVML writes it: GPU-f304f460-81a4-..."""
        raw = (ctypes.c_ubyte * 16)()
        self._call("cuDeviceGetUuid_v2", ctypes.byref(raw), self._device)
        digits = bytes(raw).hex()
        return "GPU-" + "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def memory_bytes(self) -> int:
        value = ctypes.c_size_t()
        self._call("cuDeviceTotalMem_v2", ctypes.byref(value), self._device)
        return value.value

    def attribute(self, number: int) -> int:
        """By its number in cuda.h's CUdevice_attribute."""
        value = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(value), number, self._device)
        return value.value

    def _call(self, function: str, *arguments: object) -> None:
        result = getattr(self._library, function)(*arguments)
        if result != 0:
            raise NoGpu(f"{function} failed with error {result}: check the driver and CUDA_VISIBLE_DEVICES, or run `kagent doctor`")


@functools.cache
def driver() -> Driver:
    return Driver()
