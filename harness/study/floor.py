"""The least time that a GPU could need: its memory's bandwidth and its tensor cores' TF32 rate, from the driver's own attributes."""

from __future__ import annotations

from typing import Any

from measure.driver import Driver

# CUdevice_attribute numbers (cuda.h).
_CLOCK_KHZ, _MEMORY_CLOCK_KHZ, _BUS_BITS, _SM_COUNT, _MAJOR, _MINOR = 13, 36, 37, 16, 75, 76
# Dense TF32 operations a clock and SM by compute capability (NVIDIA's architecture white papers).
_TF32_PER_CLOCK = {(8, 0): 1024, (8, 6): 256, (8, 9): 256, (9, 0): 2048, (10, 0): 4096, (12, 0): 256}


def peaks(gpu: Driver) -> dict[str, Any]:
    """{"bytes_per_s", "tf32_flops_per_s" (None where the architecture is unknown)}, at the highest clocks: no real run reaches them."""
    rate = _TF32_PER_CLOCK.get((gpu.attribute(_MAJOR), gpu.attribute(_MINOR)))
    return {"bytes_per_s": 2 * gpu.attribute(_MEMORY_CLOCK_KHZ) * 1000 * gpu.attribute(_BUS_BITS) // 8,  # two transfers a clock
            "tf32_flops_per_s": rate and rate * gpu.attribute(_SM_COUNT) * gpu.attribute(_CLOCK_KHZ) * 1000}


def floor_ms(work: dict[str, Any], peak: dict[str, Any]) -> dict[str, float | None]:
    """{"memory_ms", "compute_ms", "floor_ms"}: the larger of the two is the floor of a run with a cold L2."""
    memory_ms = 1000 * work["bytes"] / peak["bytes_per_s"]
    rate = peak["tf32_flops_per_s"]
    compute_ms = 1000 * sum(work["flops"].values()) / rate if rate else None
    return {"memory_ms": memory_ms, "compute_ms": compute_ms, "floor_ms": max(memory_ms, compute_ms or 0.0)}
