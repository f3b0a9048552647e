"""time_begin, time_burst, time_check, time_end, passes_official and profile (docs/protocol.md, "Worker")."""

from __future__ import annotations

import json
from typing import Any

import torch

from check.changes import ReadOnly
from check.exchange import Outcome, write_outcome
from measure import compiled, nvml
from measure.contenders import Contender, Eager, GraphedEager, Plan
from measure.distributions import times_of
from measure.driver import driver
from measure.floor import floor_ms
from measure.input_sets import set_count, set_seeds
from measure.official import official_check
from measure.timing import Timer
from model.failure import Failure
from model.flags import precision
from model.inputs import DEVICE, input_bytes, tensors_of
from model.session import Answer, Request, Session, argument

_MOST_RUNS = 100_000
_PROFILED_CALLS = 3


def time_begin(session: Session, request: Request) -> Answer:
    session.need_task()
    session.need_gpu("time")
    kind, seed = argument(request, "kind", str), argument(request, "seed", int, 42)
    contender = _contender(session, kind)
    session.timers.pop(kind, None)
    seeds, sets = _input_sets(session, seed)
    if kind == "plan":
        session.read_only = _watched(session, sets)
        torch.cuda.empty_cache()  # what the checks left; less to clear before each run
    timer = Timer(contender, sets, seeds, session.state, argument(request, "warmup", int, 5))
    session.timers[kind] = timer
    answer = {"input_sets": len(sets), "estimate_ms": timer.estimate_ms}
    if kind in compiled.MODES:
        answer["compile_s"] = contender.compile_s
    return answer | ({"floor_ms": floor_ms(session.need_plan().least_bytes, driver())} if kind == "null_plan" else {})


def time_burst(session: Session, request: Request) -> Answer:
    """`slowed_by`: heat or hardware that held the clocks down before or after it."""
    before = nvml.slowed_by()
    ms = _timer(session, request).burst(min(max(argument(request, "count", int), 1), _MOST_RUNS))
    return {"ms": ms, "slowed_by": sorted({*before, *nvml.slowed_by()})}


def time_check(session: Session, request: Request) -> Answer:
    """Only a plan keeps its outputs: a graph's are overwritten at its next replay."""
    timer, plan = _timer(session, request), session.need_plan()
    if request["kind"] not in ("plan", "null_plan"):
        raise Failure("internal", "bad_request", "time_check is for plans")
    kept = timer.kept
    write_outcome(argument(request, "out", str), Outcome(plan.structure, kept.output, kept.state))
    return {"seed": timer.seeds[kept.index], "scale": 1.0, "calls": 1, "drawn_on": DEVICE}


def time_end(session: Session, request: Request) -> Answer:
    timer = _timer(session, request)
    del session.timers[request["kind"]]
    session.state.restore()
    if request["kind"] == "plan":
        _hold(session.read_only)
    return {"peak_bytes": timer.peak_bytes, "clocks": nvml.clocks(), "gpu_processes": nvml.gpu_processes()}


def time_distributions(session: Session, request: Request) -> Answer:
    """Median times of the loaded plan or of eager by distribution of inputs and weights, side by side."""
    session.need_task()
    session.need_gpu("time")
    kind, seed = argument(request, "kind", str), argument(request, "seed", int, 42)
    _, sets = _input_sets(session, seed)
    if kind == "plan":
        torch.cuda.empty_cache()
    return {"ms": times_of(session, lambda: _contender(session, kind), sets, argument(request, "weights_seed", int),
                           min(max(argument(request, "rounds", int), 1), _MOST_RUNS))}


def passes_official(session: Session, request: Request) -> Answer:
    session.need_task()
    session.need_role("reference", "passes_official")
    try:
        return official_check(session, _contender(session, argument(request, "kind", str)), argument(request, "seed", int, 42),
                              argument(request, "tolerance", float, 1e-3))
    finally:
        session.state.restore()


def profile(session: Session, request: Request) -> Answer:
    session.need_task()
    session.need_gpu("profile")
    kind = argument(request, "kind", str)
    session.state.restore()
    inputs = session.inputs(session.seed)
    if kind == "plan":
        answer = session.need_plan().profile(inputs)
    elif kind == "eager":
        answer = _profile_eager(session, inputs)
    else:
        raise Failure("internal", "bad_request", f"profile: kind {kind!r:.80} is neither eager nor plan")
    session.state.restore()
    return answer


def _profile_eager(session: Session, inputs: list[Any]) -> Answer:
    with torch.no_grad(), precision("baseline"):
        session.model(*inputs)
        torch.cuda.synchronize()
        torch.ops.kagent.profile_begin()
        for _ in range(_PROFILED_CALLS):
            session.model(*inputs)
        torch.cuda.synchronize()
        return json.loads(torch.ops.kagent.profile_end(_PROFILED_CALLS))


def _watched(session: Session, sets: list[list[Any]]) -> ReadOnly:
    """Everything that timed runs read and may not write to: their inputs are used again and again."""
    inputs = {f"input {k} of set {i}": tensor for i, inputs in enumerate(sets) for k, tensor in enumerate(tensors_of(inputs))}
    parameters = {f"parameter {name}": tensor for name, tensor in session.model.named_parameters()}
    return ReadOnly({**parameters, **session.need_plan().read_only(), **inputs})


def _hold(watched: ReadOnly | None) -> None:
    changed = list(watched.changed()) if watched else []
    if changed:
        raise Failure("time", "writes_input", f"timed runs wrote to {changed[0]}: inputs, parameters and what prepare made are read-only")


def _contender(session: Session, kind: str) -> Contender:
    if kind in ("plan", "null_plan"):
        if session.need_plan().reference != (kind == "null_plan"):
            raise Failure("internal", "bad_request", f"{kind} was asked for and another kind of plan is loaded")
        return Plan(session.need_plan())
    if kind == "eager":
        return Eager(session.model)
    if kind == "graphed_eager":
        return GraphedEager(session.model, session.state)
    if kind in compiled.MODES:
        return _compiled(session, kind)
    raise Failure("internal", "bad_request", f"unknown kind {kind!r:.80}")


def _compiled(session: Session, kind: str) -> compiled.Compiled:
    """One a kind: a second one would compile again."""
    if not session.may_compile:
        raise Failure("internal", "bad_request", f"{kind}: this worker may not compile (--may-compile)")
    if kind not in session.compiled:
        session.compiled[kind] = compiled.Compiled(session.model, session.state, compiled.MODES[kind])
    return session.compiled[kind]


def _input_sets(session: Session, seed: int) -> tuple[list[int], list[list[Any]]]:
    """Seeds and sets, one for all kinds of this worker."""
    if seed not in session.input_sets:
        first = session.inputs(seed, drawn_on=DEVICE)
        l2_bytes = torch.cuda.get_device_properties(session.device).L2_cache_size
        free_bytes, _ = torch.cuda.mem_get_info()
        seeds = set_seeds(seed, set_count(input_bytes(first), l2_bytes, free_bytes))
        session.input_sets[seed] = (seeds, [first] + [session.inputs(s, drawn_on=DEVICE) for s in seeds[1:]])
    return session.input_sets[seed]


def _timer(session: Session, request: Request) -> Timer:
    kind = argument(request, "kind", str)
    if kind not in session.timers:
        raise Failure("internal", "bad_request", f"{kind:.80}: time_begin comes first")
    return session.timers[kind]


COMMANDS = {"time_begin": (time_begin, "time"), "time_burst": (time_burst, "time"), "time_check": (time_check, "time"),
            "time_end": (time_end, "time"), "passes_official": (passes_official, "time"), "time_distributions": (time_distributions, "time"), "profile": (profile, "profile")}
