"""How many mutants of a task the judge's checks tell from the reference: before and after the rules beyond the paper."""

from __future__ import annotations

from typing import Any, Iterator

import torch

from check import accuracy, oracle, sensitivity
from check.numbers import within_tolerance
from check.oracle import Oracle
from check.weights import AS_BUILT, applicable, weights
from check.input_kinds import AS_DRAWN, TOUCHED
from model.flags import precision
from model.inputs import tensors_of
from model.session import Session
from study.interpret import Interpreter
from study.mutants import Mutant, mutants

OFFICIAL_SCALES = (1.0, 3.0, 0.01, -1.0)
# Weights and inputs of the hidden draws beyond the official ones (agent/judge/check.cpp draws the same).
BEYOND = ((AS_BUILT, AS_DRAWN), ("redrawn", "rows"), ("he", "suffix"), ("peaky", AS_DRAWN), (AS_BUILT, "outliers"), ("redrawn", "ramp"),
          (AS_BUILT, "offset"), (AS_BUILT, "far"), (AS_BUILT, "near_one"), ("long_memory", AS_DRAWN), *((name, name) for name in TOUCHED))
_TOLERANCE = 1e-3
_SEED = 42


def kills(session: Session, plan: dict[str, Any], most: int) -> dict[str, Any]:
    """{"mutants", "killed_official", "killed", "survivors": [names], "exact": the unchanged plan passes everything,
    "draws": {"redrawn+rows": "sensitive", "blind" or "says nothing"}}."""
    interpreter = Interpreter(plan, session.model, session.device)
    todo = [*mutants(plan, most)]
    unchanged = Mutant("unchanged")
    official = {m.name for m in todo if not _passes_official(session, interpreter, m)}
    exact = _passes_official(session, interpreter, unchanged)
    alive = [m for m in todo if m.name not in official]
    draws: dict[str, str] = {}
    for regime, kind in BEYOND:
        if regime not in applicable(session.model):
            if kind == AS_DRAWN:
                continue
            regime = AS_BUILT
        base = sensitivity.base_of(session, _SEED) if kind in TOUCHED else None
        with weights(session, regime, _SEED):
            inputs = session.inputs(_SEED, 1.0, kind)
            truth = oracle.ask(session, inputs)
            told = _examined(session, interpreter, unchanged, inputs, truth, base)
            draws[f"{regime}+{kind}"] = "says nothing" if told["vacuous"] else "sensitive" if told.get("sensitive", True) else "blind"
            exact = exact and told["passed"]
            alive = [m for m in alive if _examined(session, interpreter, m, inputs, truth, base)["passed"]]
    return {"mutants": len(todo), "killed_official": len(official), "killed": len(todo) - len(alive), "survivors": [m.name for m in alive],
            "exact": exact, "draws": draws}


def _outputs(session: Session, interpreter: Interpreter, mutant: Mutant, inputs: list[Any]) -> list[torch.Tensor]:
    session.state.restore()
    try:
        with torch.no_grad(), precision("official"):
            return mutant.run(interpreter, [x.clone() for x in tensors_of(inputs)])
    finally:
        session.state.restore()


def _passes_official(session: Session, interpreter: Interpreter, mutant: Mutant) -> bool:
    return all(bool(within_tolerance(got, want, _TOLERANCE).all()) if want.is_floating_point() else torch.equal(got, want)
               for scale in OFFICIAL_SCALES for got, want in _pairs(session, interpreter, mutant, scale))


def _pairs(session: Session, interpreter: Interpreter, mutant: Mutant, scale: float) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    inputs = session.inputs(_SEED, scale)
    yield from zip(_outputs(session, interpreter, mutant, inputs), _outputs(session, interpreter, Mutant("unchanged"), inputs))


def _examined(session: Session, interpreter: Interpreter, mutant: Mutant, inputs: list[Any], truth: Oracle,
              base: sensitivity.Base | None) -> dict[str, Any]:
    """State is the reference's own here: mutants are told by their outputs."""
    outputs = {f"output {i}": t for i, t in enumerate(_outputs(session, interpreter, mutant, inputs))}
    only = Oracle({k: v for k, v in truth.exact.items() if k in outputs}, truth.honest, truth.float32)
    return sensitivity.judge(outputs, base, only) if base else accuracy.judge(outputs, only)
