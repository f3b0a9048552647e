"""What torch.compile makes of the reference, as a user would ask for it. Only in a process that may compile (worker.py --may-compile)."""

from __future__ import annotations

import time
from typing import Any, ContextManager

import torch
from torch import nn

from check.structure import Tree, flatten
from measure.contenders import baseline_mode, peak_of
from model.failure import Failure, cuda_kind, one_line
from model.state import ModelState

MODES = {"compile": "default", "compile_reduce_overhead": "reduce-overhead"}  # by kind


class Compiled:
    """Shapes, flags and the model stay the same from its first call on, so that nothing is compiled twice."""

    def __init__(self, model: nn.Module, state: ModelState, mode: str):
        self._mode, self._state = mode, state
        self._call = torch.compile(model, mode=mode)
        self.compile_s = 0.0  # of the first call

    def mode(self) -> ContextManager[Any]:
        return baseline_mode()

    def begin(self, sets: list[list[Any]]) -> int:
        self._sets = sets
        self._first(sets[0])
        # Of two: with "reduce-overhead" the second call of all captures the CUDA graphs, which hold their memory from then on.
        peak = max(peak_of(lambda: self._fresh(sets[0])) for _ in range(2))
        for inputs in sets:
            self._fresh(inputs)
        return peak

    def clear(self) -> None:
        torch.compiler.cudagraph_mark_step_begin()  # nobody keeps an earlier run's outputs, which lie in its graphs

    def run(self, index: int) -> None:
        """Its outputs would be overwritten by the next run, and are not kept."""
        self._call(*self._sets[index])

    def once(self, inputs: list[Any]) -> tuple[Tree, list[torch.Tensor]]:
        tree, leaves = flatten(self._first(inputs))
        return tree, [leaf.clone() for leaf in leaves]

    def _fresh(self, inputs: list[Any]) -> Any:
        self._state.restore()
        self.clear()
        return self._call(*inputs)

    def _first(self, inputs: list[Any]) -> Any:
        """A call that may have to compile."""
        begin = time.monotonic()
        try:
            result = self._fresh(inputs)
            if torch.cuda.is_initialized():
                torch.cuda.synchronize()
        except Exception as error:
            text = str(error)
            if isinstance(error, (MemoryError, torch.OutOfMemoryError)) or cuda_kind(text) or "CUDA error" in text:
                raise
            raise Failure("time", "not_compilable", one_line(f"torch.compile (mode {self._mode}) fails here: {type(error).__name__}: {text}", 400)) from error
        self.compile_s = self.compile_s or time.monotonic() - begin
        return result
