"""Times under other distributions than the timed one: a program that looks at its data and has a shorter way for what it is usually
timed on shows here.

The official scales of the inputs, run in turns, one run each, so that clocks drift for all alike; then the timed inputs under redrawn
weights, with `prepare` run again, and once more under the model's own."""

from __future__ import annotations

import statistics
from typing import Any, Callable

import torch

from check.weights import applicable, weights
from measure.contenders import Contender
from measure.timing import Timer
from model.inputs import input_bytes
from model.session import Session

SCALES = {"x1": 1.0, "x3": 3.0, "x0.01": 0.01, "x-1": -1.0}
_SETS = 2  # of inputs, each under each scale
_REDRAWN = "redrawn"


def times_of(session: Session, contender: Callable[[], Contender], sets: list[list[Any]], weights_seed: int, rounds: int) -> dict[str, float]:
    """Milliseconds, a median of `rounds` runs on each set, by distribution: those of SCALES, and "redrawn" where the task has weights.
    Empty where memory does not suffice for the inputs."""
    chosen = sets[:affordable_sets(input_bytes(sets[0]), torch.cuda.mem_get_info()[0])]
    if not chosen:
        return {}
    scaled = [[scaled_input(value, scale) for value in inputs] for inputs in chosen for scale in SCALES.values()]
    times = by_distribution(_burst(session, contender(), scaled, rounds), list(SCALES))
    if _REDRAWN in applicable(session.model):
        with weights(session, _REDRAWN, weights_seed):
            redrawn = statistics.median(_burst(session, contender(), chosen, rounds))
        again = statistics.median(_burst(session, contender(), chosen, rounds))
        times[_REDRAWN] = redrawn * times["x1"] / again  # against the model's own weights at nearly the same moment
    return times


def affordable_sets(set_bytes: int, free_bytes: int) -> int:
    return min(_SETS, free_bytes // 4 // max(set_bytes * len(SCALES), 1))


def by_distribution(ms: list[float], names: list[str]) -> dict[str, float]:
    """The medians of runs that took turns among `names`."""
    return {name: statistics.median(ms[i::len(names)]) for i, name in enumerate(names)}


def scaled_input(value: Any, scale: float) -> Any:
    """As the official tests do (model/inputs.py): floating tensors only."""
    scales = isinstance(value, torch.Tensor) and value.is_floating_point() and scale != 1.0
    return value * scale if scales else value


def _burst(session: Session, contender: Contender, sets: list[list[Any]], rounds: int) -> list[float]:
    timer = Timer(contender, sets, [0] * len(sets), session.state, warmup=len(sets))
    times = timer.burst(len(sets) * rounds)
    session.state.restore()
    return times
