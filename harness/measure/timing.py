"""Timed runs of one contender on rotated inputs with a cold L2, by CUDA events.

Before each run the state is what it was at first, a plan's contender has cleared whatever an earlier run could have left (free
memory, the graph's own, what lies on the chip), and a write of FLUSH_BYTES has evicted the L2. The host waits for that
write: it is ahead of nothing, so that enqueueing costs what it costs in use. The events enclose the call alone;
flags are set once a burst. One random run of each burst is kept for checking.
"""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from typing import Any

import torch

from measure.contenders import Contender
from model.state import ModelState

FLUSH_BYTES = 256 << 20  # over four times the L2 of an H200 (60 MiB), twice that of the largest other GPUs


@dataclass
class Kept:
    """One timed run: its input set, what it returned, and the state it left."""
    index: int
    output: Any
    state: dict[str, torch.Tensor]


class Timer:
    def __init__(self, contender: Contender, sets: list[list[Any]], seeds: list[int], state: ModelState, warmup: int):
        self.seeds = seeds
        self.kept: Kept | None = None
        self._contender, self._sets, self._state = contender, sets, state
        self._flush = _flush_buffer()
        self._next, self._random = 0, random.SystemRandom()
        state.restore()
        with contender.mode():
            self.peak_bytes = contender.begin(sets)
        self._changed = state.changed()  # only this much is put back before each run
        self.estimate_ms = min(self.burst(max(warmup, 2, len(sets))))

    def burst(self, count: int) -> list[float]:
        """Milliseconds of `count` runs."""
        chosen = self._random.randrange(count)
        begins = [torch.cuda.Event(enable_timing=True) for _ in range(count)]
        ends = [torch.cuda.Event(enable_timing=True) for _ in range(count)]
        self.kept = None
        with self._contender.mode():
            for i in range(count):
                index, self._next = self._next, (self._next + 1) % len(self._sets)
                self._state.restore(self._changed)
                self._contender.clear()
                self._flush.zero_()
                torch.cuda.synchronize()
                begins[i].record()
                output = self._contender.run(index)
                ends[i].record()
                if i == chosen:
                    self.kept = Kept(index, output, {name: t.clone() for name, t in self._state.live.items()})
                del output
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) for begin, end in zip(begins, ends)]


@functools.cache
def _flush_buffer() -> torch.Tensor:
    return torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
