"""An outcome against the reference's, all rules: the answer of the `compare` command."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch

from check import rules
from check.exchange import Outcome
from check.numbers import Numbers, compare_numbers
from check.structure import leaf_names


def compare(got: Outcome, want: Outcome, tolerance: float) -> dict[str, Any]:
    """{"passed", "reason", "bitwise", "outputs": [...], "state": [...]}; reason names the first broken rule."""
    wrong_structure = rules.same_structure(got.structure, want.structure)
    names = leaf_names(want.structure)
    outputs, state = [], []
    if not wrong_structure and len(got.outputs) == len(want.outputs) == len(names):
        outputs = [_entry(*item, tolerance) for item in zip(names, got.outputs, want.outputs)]
    elif not wrong_structure:
        wrong_structure = f"forward must return {len(want.outputs)} tensors; it returns {len(got.outputs)}"
    wrong_names = rules.same_state_names(list(got.state), list(want.state))
    if not wrong_names:
        state = [_entry(name, got.state[name], want.state[name], tolerance) for name in want.state]
    reasons = [wrong_structure, *(entry["reason"] for entry in outputs), wrong_names,
               *(f"after the call, {entry['reason']}" if entry["reason"] else None for entry in state)]
    reasons = [reason for reason in reasons if reason]
    return {"passed": not reasons, "reason": reasons[0] if reasons else "",
            "bitwise": not reasons and all(entry["bitwise"] for entry in outputs + state),
            "outputs": outputs, "state": state}


def _entry(name: str, got: torch.Tensor, want: torch.Tensor, tolerance: float) -> dict[str, Any]:
    entry = {"name": name, "shape": list(want.shape)}
    reason = rules.same_shape(name, got, want) or rules.same_dtype(name, got, want)
    if reason:
        numbers = Numbers(elements=want.numel(), violations=want.numel(), bitwise=False)
    else:
        numbers = compare_numbers(got, want, tolerance)
        reason = rules.values_close(name, numbers, tolerance)
    return {**entry, **asdict(numbers), "passed": reason is None, "reason": reason or ""}
