"""Whether one changed element of an input, and one of each weight, changes the result as it changes the reference's.

A program that looks at some places and takes them for the rest (a usual prefix, a first weight that is 1) is right as long as
all is usual. Here all is as drawn but for one element at a random place: the result must follow where the reference does.

An element of the result counts when double precision moves it by far more than honest work is off anywhere in the tensor;
there it must come nearer to the touched value than to the untouched one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from check import oracle
from check.input_kinds import AS_DRAWN
from check.oracle import Oracle, Values
from check.weights import AS_BUILT, weights
from model.inputs import HOST
from model.session import Session

_MOVED = 32.0   # times the largest honest error of the untouched call: what counts as moved
_SHARE = 0.5    # of the move: how far off the result may be
_HONEST = 8.0   # times the honest error at that very element
_LEAST = 1e-5   # of the largest value: honest work may be exact

NOTHING = {"passed": True, "vacuous": True, "reason": "", "held": 0}


@dataclass
class Base:
    """The untouched call."""
    seed: int
    drawn_on: str
    exact: Values
    worst: dict[str, float]  # the largest honest error of each tensor


def keep_base(session: Session, seed: int, drawn_on: str, truth: Oracle) -> Base:
    """Of weights and inputs as drawn: the touched draws of that seed are held against it."""
    session.base = Base(seed, drawn_on, truth.exact, {name: _worst(exact, [run[name] for run in truth.honest]) for name, exact in truth.exact.items()})
    return session.base


def base_of(session: Session, seed: int, drawn_on: str = HOST) -> Base:
    if session.base is not None and (session.base.seed, session.base.drawn_on) == (seed, drawn_on):
        return session.base
    with weights(session, AS_BUILT, seed):
        return keep_base(session, seed, drawn_on, oracle.ask(session, session.inputs(seed, 1.0, AS_DRAWN, drawn_on)))


def judge(got: Values, base: Base, touched: Oracle) -> dict[str, Any]:
    """{"passed", "vacuous", "reason", "held"}; held: how many elements of the result the touch moved far enough to tell."""
    held, reason = 0, ""
    for name, after in touched.exact.items():
        count, wrong = _tensor(got.get(name), base.exact.get(name), base.worst.get(name, float("inf")), after, [run[name] for run in touched.honest])
        held += count
        if wrong and not reason:
            reason = (f"{name}: of {count} elements that one changed element of the inputs or weights moves, {wrong} do not move as "
                      "the reference's do")
    return {"passed": not reason, "vacuous": held == 0, "reason": reason, "held": held}


def _tensor(got: torch.Tensor | None, before: torch.Tensor | None, worst: float, after: torch.Tensor, honest: list[torch.Tensor]) -> tuple[int, int]:
    """How many elements moved, and how many of those are wrong."""
    if got is None or before is None or got.shape != after.shape or before.shape != after.shape:
        return 0, 0  # the other rules see it
    move = (after - before).abs()
    counts = move.isfinite() & (move > max(_MOVED * worst, _LEAST * float(torch.nan_to_num(before, posinf=0.0, neginf=0.0).abs().amax()) if before.numel() else 0.0))
    noise = torch.stack([(run.double() - after).abs() for run in honest]).amax(0)
    off = (got.to(after.device).double() - after).abs()
    wrong = counts & ~(off <= _SHARE * move + _HONEST * noise)  # NaN is wrong, too
    counts &= noise.isfinite() & (_HONEST * noise < (1 - _SHARE) * move)
    return int(counts.sum()), int((wrong & counts).sum())


def _worst(exact: torch.Tensor, honest: list[torch.Tensor]) -> float:
    """Not a number counts as nothing: the touched call may make it so elsewhere."""
    if exact.numel() == 0:
        return 0.0
    return max(float(torch.nan_to_num((run.double() - exact).abs(), nan=0.0, posinf=float("inf")).amax()) for run in honest)
