"""How many input sets the timed runs rotate among: at least three, more where they are small, so that all together are
larger than the L2 cache; at most eight, and no more than half of the free memory or 8 GiB."""

from __future__ import annotations

_LEAST, _MOST = 3, 8
_L2_TIMES = 3
_MOST_BYTES = 8 << 30


def set_count(set_bytes: int, l2_bytes: int, free_bytes: int) -> int:
    size = max(set_bytes, 1)
    wanted = min(_MOST, max(_LEAST, 1 + _L2_TIMES * l2_bytes // size))
    affordable = min(_MOST_BYTES, free_bytes // 2) // size
    return max(1, min(wanted, affordable))


def set_seeds(seed: int, count: int) -> list[int]:
    return [seed + 1000 * i for i in range(count)]
