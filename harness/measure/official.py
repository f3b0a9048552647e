"""Whether a baseline passes the official check itself. It runs under its own flags (TF32), and is held against eager under the official
ones, as an answer is: inputs of one seed, drawn on the host, x1, x3, x0.01 and x(-1); outputs within the tolerance, each call from the
initial state. (State and repeated calls, which an answer is asked for too, are no part of the official check.)"""

from __future__ import annotations

from typing import Any

import torch

from check.compare import compare
from check.exchange import Outcome
from check.structure import flatten
from measure.contenders import Contender
from measure.distributions import SCALES
from model.eager import call_eager
from model.flags import precision
from model.session import Session


def official_check(session: Session, contender: Contender, seed: int, tolerance: float) -> dict[str, Any]:
    """{"passed", "distributions": [{"scale", "passed", "violations", "elements", "max_abs", "reason"}]}"""
    distributions = []
    for scale in SCALES.values():
        got = _outcome(session, contender, seed, scale)
        want = _reference(session, seed, scale)
        distributions.append({"scale": scale, **_in_short(compare(got, want, tolerance))})
    session.state.restore()
    return {"passed": all(entry["passed"] for entry in distributions), "distributions": distributions}


def _outcome(session: Session, contender: Contender, seed: int, scale: float) -> Outcome:
    inputs = session.inputs(seed, scale)
    session.state.restore()
    with contender.mode():
        structure, outputs = contender.once(inputs)
    session.synchronize()
    return Outcome(structure, outputs, {})


def _reference(session: Session, seed: int, scale: float) -> Outcome:
    inputs = session.inputs(seed, scale)  # drawn anew: a call may write to its inputs
    session.state.restore()
    with torch.no_grad(), precision("official"):
        structure, outputs = flatten(call_eager(session.task, session.model, inputs))
    session.synchronize()
    return Outcome(structure, outputs, {})


def _in_short(compared: dict[str, Any]) -> dict[str, Any]:
    outputs = compared["outputs"]
    return {"passed": compared["passed"], "violations": sum(o["violations"] for o in outputs), "elements": sum(o["elements"] for o in outputs),
            "max_abs": max((o["max_abs"] for o in outputs), default=0.0), "reason": compared["reason"]}
