"""run, compare, examine, prepare_moves and strides (docs/protocol.md, "Worker")."""

from __future__ import annotations

import time
from typing import Any, Callable, ContextManager

import torch

from check import accuracy, oracle, sensitivity
from check.changes import ReadOnly, bits
from check.compare import compare
from check.moving import prepare_moves
from check.exchange import Outcome, read_outcome, write_outcome
from check.structure import Tree, flatten
from check.weights import AS_BUILT, weights
from model.eager import call_eager
from model.failure import Failure
from model.flags import precision
from check.input_kinds import AS_DRAWN, TOUCHED
from model.inputs import HOST, tensors_of
from model.session import Answer, Request, Session, argument
from model.state import state_tensors

Call = Callable[[list[Any]], tuple[Tree, list[torch.Tensor]]]  # inputs to structure and leaves

_MOST_CALLS = 100


def run(session: Session, request: Request) -> Answer:
    """The loaded plan on real data; what it leaves unwritten holds the asked poison: NaN, or a huge number (fmaxf hides NaN), or, as
    in timed runs, whatever is there. Disturbed: until a run differs from one that was not, at most `repeats` times."""
    begin = time.monotonic()
    plan = session.need_plan()
    plan.set_poison(argument(request, "poison", str, "nan"))
    disturbed = argument(request, "disturbed", bool, False)
    try:
        with _weights(session, request):
            guards = argument(request, "guards", str, "none")
            call = plan.run if guards == "none" else lambda inputs: plan.run_guarded(inputs, guards)
            replaced = plan.set_stand_in(argument(request, "kernel", str, ""), argument(request, "stand_in", str, "none"))
            watched = ReadOnly(plan.read_only())
            again = lambda: _outcome(session, request, lambda inputs: (plan.structure, call(inputs)))  # noqa: E731
            outcome = again()
            if disturbed:
                plan.set_disturbed(True)
                outcome = _first_other(outcome, again, argument(request, "repeats", int, 1))
            outcome.state.update(watched.changed())  # the reference has no such state: compare says so
            write_outcome(argument(request, "out", str), outcome)
    finally:
        plan.set_stand_in("", "none")
        plan.set_disturbed(False)
        session.state.restore()
        plan.set_poison("off")
    return {"replaced": replaced, "elapsed_s": time.monotonic() - begin}


def _first_other(first: Outcome, again: Callable[[], Outcome], most: int) -> Outcome:
    """The first of at most `most` runs whose bits are not those of `first`, or the last."""
    first.state = {name: tensor.clone() for name, tensor in first.state.items()}  # the model's own, which the next run writes to
    for _ in range(min(max(most, 1), _MOST_CALLS)):
        other = again()
        if not _same_bits(first, other):
            break
    return other


def _same_bits(a: Outcome, b: Outcome) -> bool:
    one, two = a.outputs + list(a.state.values()), b.outputs + list(b.state.values())
    return len(one) == len(two) and all(torch.equal(bits(x), bits(y)) for x, y in zip(one, two))


def compare_file(session: Session, request: Request) -> Answer:
    """A file of `run` or `time_check` against eager, freshly run under the asked flags."""
    begin = time.monotonic()
    session.need_task()
    session.need_role("reference", "compare")
    got = read_outcome(argument(request, "file", str))
    tolerance = argument(request, "tolerance", float, 1e-3)
    try:
        with torch.no_grad(), precision(argument(request, "flags", str, "official")):
            want = _outcome(session, request, lambda inputs: flatten(call_eager(session.task, session.model, inputs)))
        if argument(request, "outputs_only", bool, False):
            got.state, want.state = {}, {}
        answer = compare(got, want, tolerance)
    finally:
        session.state.restore()
    return {**answer, "elapsed_s": time.monotonic() - begin}


def examine(session: Session, request: Request) -> Answer:
    """A file of `run` (one call) against the reference in double precision: as accurate as honest work is? For touched inputs:
    does it move as the reference does?"""
    begin = time.monotonic()
    session.need_task()
    session.need_role("reference", "examine")
    got = read_outcome(argument(request, "file", str))
    outputs_only = argument(request, "outputs_only", bool, False)
    values = {f"output {i}": tensor for i, tensor in enumerate(got.outputs)} | got.state
    seed, kind = argument(request, "seed", int), argument(request, "inputs", str, AS_DRAWN)
    drawn_on = argument(request, "drawn_on", str, HOST)
    touched = kind in TOUCHED
    try:
        base = sensitivity.base_of(session, seed, drawn_on) if touched else None
        with _weights(session, request):
            inputs = session.inputs(seed, argument(request, "scale", float, 1.0), kind, drawn_on)
            truth = oracle.ask(session, inputs, most=2 if touched else 3)
            if outputs_only:
                truth.exact = {name: tensor for name, tensor in truth.exact.items() if name.startswith("output ")}
            answer = sensitivity.judge(values, base, truth) if touched else accuracy.judge(values, truth)
        if not touched and not outputs_only and kind == AS_DRAWN and argument(request, "weights", str, AS_BUILT) == AS_BUILT:
            sensitivity.keep_base(session, seed, drawn_on, truth)
    except Failure as failure:
        if failure.error["stage"] != "task":
            raise
        answer = {**(sensitivity.NOTHING if touched else accuracy.NOTHING), "reason": f"the reference does not run here: {failure.error['message']}"}
    finally:
        session.state.restore()
    return {**answer, "elapsed_s": time.monotonic() - begin}


def _weights(session: Session, request: Request) -> ContextManager[None]:
    return weights(session, argument(request, "weights", str, AS_BUILT), argument(request, "seed", int))


def strides(session: Session, request: Request) -> Answer:
    """Planned against real: one run without a graph; `differing` results had another layout than planned and were
    copied."""
    plan = session.need_plan()
    session.state.restore()
    graph = plan.info()["graph"]
    plan.set_graph(False)
    plan.run(session.inputs(session.seed))
    session.synchronize()
    differing = plan.info()["restrides"]
    plan.set_graph(graph)
    session.state.restore()
    return {"differing": differing}


def _outcome(session: Session, request: Request, call: Call) -> Outcome:
    """`calls` calls in a row from the initial state, the i-th (from 0) on the inputs of seed + i; the outputs are the
    last one's. Candidate and reference draw the same. Parameters, and inputs of the last call, that were written to are
    part of the state."""
    seed, scale = argument(request, "seed", int), argument(request, "scale", float, 1.0)
    session.state.restore()
    parameters = ReadOnly({f"parameter {name}": tensor for name, tensor in session.model.named_parameters()})
    for i in range(min(max(argument(request, "calls", int, 1), 1), _MOST_CALLS)):
        inputs = session.inputs(seed + i, scale, argument(request, "inputs", str, AS_DRAWN), argument(request, "drawn_on", str, HOST))
        given = ReadOnly({f"input {k}": tensor for k, tensor in enumerate(tensors_of(inputs))})
        structure, outputs = call(inputs)
        session.synchronize()
    return Outcome(structure, outputs, {**state_tensors(session.model), **parameters.changed(), **given.changed()})


COMMANDS = {"run": (run, "run"), "compare": (compare_file, "internal"), "examine": (examine, "internal"),
            "prepare_moves": (prepare_moves, "run"), "strides": (strides, "run")}
