"""Timed runs of one kind (eager, graphed_eager, null_plan, plan) on rotated inputs with a cold L2, by CUDA events.

Every run is preceded by a write of FLUSH_BYTES, which evicts the L2, and by a synchronisation-free event pair around the call alone. Inputs
rotate among several sets with contents of their own; the output of one random run of each burst is kept for checking.
"""
from __future__ import annotations

import random
from typing import Any, Callable

import torch

FLUSH_BYTES = 256 << 20
MAX_SETS = 8
L2_TIMES = 3  # the sets together are larger than this many L2 caches


class Timed:
    """`call(inputs)` runs once. `make_inputs(seed)` draws a set. Everything stays on the current stream."""

    def __init__(self, call: Callable[[list], Any], make_inputs: Callable[[int], list], set_bytes: int, seed: int, warmup: int):
        self.call = call
        l2_bytes = torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
        count = max(2, min(MAX_SETS, 1 + L2_TIMES * l2_bytes // max(set_bytes, 1)))
        self.seeds = [seed + 1000 * i for i in range(count)]
        self.sets = [make_inputs(s) for s in self.seeds]
        self.flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
        self.next = 0
        self.kept: tuple[int, Any] | None = None
        self.random = random.Random()
        for _ in range(max(warmup, 1)):
            self.call(self.sets[self._advance()])
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        output = self.call(self.sets[self._advance()])
        torch.cuda.synchronize()
        self.peak_bytes = torch.cuda.max_memory_allocated() - before
        del output

    def _advance(self) -> int:
        self.next = (self.next + 1) % len(self.sets)
        return self.next

    def burst(self, count: int) -> list[float]:
        """Milliseconds of `count` runs."""
        kept_run = self.random.randrange(count)
        begins = [torch.cuda.Event(enable_timing=True) for _ in range(count)]
        ends = [torch.cuda.Event(enable_timing=True) for _ in range(count)]
        self.kept = None
        for i in range(count):
            index = self._advance()
            self.flush.zero_()
            torch.cuda.synchronize()  # the host is ahead of nothing: enqueueing costs as it does in use
            begins[i].record()
            output = self.call(self.sets[index])
            ends[i].record()
            if i == kept_run:
                self.kept = (index, output)
            del output
        torch.cuda.synchronize()
        return [b.elapsed_time(e) for b, e in zip(begins, ends)]
