"""What can be timed: eager, eager as one CUDA graph, a plan, and what torch.compile makes (measure/compiled.py). Each runs on any of the
given input sets."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, ContextManager, Protocol

import torch
from torch import nn

from check.structure import Tree, flatten
from model.failure import Failure
from model.flags import precision
from model.inputs import tensors_of
from model.loaded_plan import LoadedPlan
from model.state import ModelState


class Contender(Protocol):
    def mode(self) -> ContextManager[Any]:
        """Holds around warm-up and bursts: flags are set once, outside the timed part."""

    def begin(self, sets: list[list[Any]]) -> int:
        """Makes every set ready to run; returns the peak bytes of one run above what was allocated before it."""

    def clear(self) -> None:
        """Before a run: whatever an earlier one may have left for it is gone."""

    def run(self, index: int) -> Any:
        """One run on sets[index], enqueued on the current stream."""

    def once(self, inputs: list[Any]) -> tuple[Tree, list[torch.Tensor]]:
        """What it makes of inputs that are none of the sets: structure and leaves, the caller's own until the next call."""


@contextlib.contextmanager
def baseline_mode():
    with torch.no_grad(), precision("baseline"):
        yield


class Eager:
    def __init__(self, model: nn.Module):
        self._model = model

    def mode(self) -> ContextManager[Any]:
        return baseline_mode()

    def begin(self, sets: list[list[Any]]) -> int:
        self._sets = sets
        self._model(*sets[0])  # libraries take their workspaces at their first call
        return peak_of(lambda: self._model(*sets[0]))

    def clear(self) -> None:
        pass  # torch's own kernels look for nothing

    def run(self, index: int) -> Any:
        return self._model(*self._sets[index])

    def once(self, inputs: list[Any]) -> tuple[Tree, list[torch.Tensor]]:
        return flatten(self._model(*inputs))


class GraphedEager:
    """One graph an input set, as a user with fixed buffers would have it: no input is copied. They share their memory,
    since only one runs at a time and a baseline's outputs are not kept."""

    def __init__(self, model: nn.Module, state: ModelState):
        self._model, self._state = model, state
        self._graphs: list[torch.cuda.CUDAGraph] = []

    def mode(self) -> ContextManager[Any]:
        return baseline_mode()

    def begin(self, sets: list[list[Any]]) -> int:
        peak = peak_of(lambda: self._graphs.append(self._capture(sets[0])[0]))
        for inputs in sets[1:]:
            self._graphs.append(self._capture(inputs)[0])
        return peak

    def clear(self) -> None:
        pass

    def run(self, index: int) -> None:
        self._graphs[index].replay()

    def once(self, inputs: list[Any]) -> tuple[Tree, list[torch.Tensor]]:
        given = [tensor.clone() for tensor in tensors_of(inputs)]
        graph, output = self._capture(inputs)
        for tensor, was in zip(tensors_of(inputs), given):
            tensor.copy_(was)  # calls before the capture may have written to it
        graph.replay()
        tree, leaves = flatten(output)
        return tree, [leaf.clone() for leaf in leaves]  # the graph's own memory goes with it

    def _capture(self, inputs: list[Any]) -> tuple[torch.cuda.CUDAGraph, Any]:
        """The graph, and where its replays leave their output."""
        try:
            return self._captured(inputs)
        except RuntimeError as error:
            raise Failure("time", "not_capturable",
                          f"eager cannot be captured as one CUDA graph: {str(error).splitlines()[0]}") from error

    def _captured(self, inputs: list[Any]) -> tuple[torch.cuda.CUDAGraph, Any]:
        stream = torch.cuda.current_stream()
        side = torch.cuda.Stream()
        side.wait_stream(stream)
        with torch.cuda.stream(side):
            for _ in range(2):  # what libraries allocate or choose at first calls may not happen in a capture
                self._model(*inputs)
        stream.wait_stream(side)
        self._state.restore()  # the graph reads the tensors that a restore writes
        graph = torch.cuda.CUDAGraph()
        pool = self._graphs[0].pool() if self._graphs else None
        try:
            with torch.cuda.graph(graph, pool=pool):
                output = self._model(*inputs)
        finally:
            torch.cuda.set_stream(stream)  # a capture that failed leaves its own stream current
        return graph, output


class Plan:
    def __init__(self, plan: LoadedPlan):
        self._plan = plan

    def mode(self) -> ContextManager[Any]:
        return contextlib.nullcontext()  # the executor sets the plan's own flags

    def begin(self, sets: list[list[Any]]) -> int:
        """A graph holds its memory from its capture on: what a run needs shows without one."""
        self._sets = sets
        graph = self._plan.info()["graph"]
        self._plan.set_graph(False)
        self._plan.run(sets[0])
        peak = peak_of(lambda: self._plan.run(sets[0]))
        self._plan.set_graph(graph)
        if graph and self._plan.reference:
            self._capture_if_it_can()
        return peak

    def clear(self) -> None:
        if not self._plan.reference:
            self._plan.scrub_at_random()

    def run(self, index: int) -> Any:
        return self._plan.run(self._sets[index])

    def once(self, inputs: list[Any]) -> tuple[Tree, list[torch.Tensor]]:
        return self._plan.structure, self._plan.run(inputs)

    def _capture_if_it_can(self) -> None:
        """A null plan that cannot be a graph is timed without one; an answer that cannot says so itself."""
        try:
            self._plan.run(self._sets[0])
        except RuntimeError as error:
            if '"not_capturable"' not in str(error):
                raise
            self._plan.set_graph(False)


def peak_of(call: Callable[[], Any]) -> int:
    """Bytes that torch's allocator gave out at most during the call, above what was given out before it."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = call()
    torch.cuda.synchronize()
    del result
    return torch.cuda.max_memory_allocated() - before
