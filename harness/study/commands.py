"""study (docs/protocol.md, "Worker")."""

from __future__ import annotations

from typing import Any

from measure.driver import driver
from model.session import Answer, Request, Session
from study.floor import floor_ms, peaks
from study.numerics import numerics
from study.work import work


def study(session: Session, request: Request) -> Answer:
    task = session.need_task()
    session.need_role("reference", "study")
    # Here, not above: recording needs much that a worker does not.
    from tracer.task import Task as TracedTask

    counted = work(TracedTask(task.path).trace(None, 1 << 20))
    answer: dict[str, Any] = {"work": counted, "floor": None, "numerics": None}
    if session.backend == "cuda":
        peak = peaks(driver())
        answer.update(floor={**peak, **floor_ms(counted, peak)}, numerics=numerics(session))
        session.state.restore()
    return answer


COMMANDS = {"study": (study, "study")}
