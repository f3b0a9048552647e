"""study (docs/protocol.md, "Worker")."""

from __future__ import annotations

from typing import Any

from measure.driver import driver
from model.session import Answer, Request, Session, argument
from study.floor import floor_ms, peaks
from study.kills import kills
from study.numerics import numerics
from study.work import work

_MOST_MUTANTS = 10_000


def study(session: Session, request: Request) -> Answer:
    task = session.need_task()
    session.need_role("reference", "study")
    # Here, not above: recording needs much that a worker does not.
    from tracer.task import Task as TracedTask

    plan = TracedTask(task.path).trace(None, 1 << 20)
    counted, most = work(plan), argument(request, "mutants", int, 0)
    answer: dict[str, Any] = {"work": counted, "floor": None, "numerics": None, "kills": None}
    if most > 0:
        answer["kills"] = kills(session, plan, min(most, _MOST_MUTANTS))
    if session.backend == "cuda":
        peak = peaks(driver())
        answer.update(floor={**peak, **floor_ms(counted, peak)}, numerics=numerics(session))
        session.state.restore()
    return answer


COMMANDS = {"study": (study, "study")}
