"""One tensor against its reference: |got - want| <= atol + rtol * |want| for every element.

NaN never passes, on either side; infinities must match in place and sign; shapes and dtypes must be equal (nothing is broadcast or
cast). Written as "is inside", never "is outside", so that NaN falls on the failing side.
"""
from __future__ import annotations

from typing import Any

import torch

_CHUNK = 1 << 24


def compare_tensor(name: str, got: torch.Tensor, want: torch.Tensor, tolerance: float) -> dict[str, Any]:
    """A JSON object: passed, reason, and the figures of docs/verdict.md. The tensors may be on different devices."""
    record: dict[str, Any] = {"name": name, "shape": list(want.shape), "elements": want.numel(), "passed": False, "reason": "", "violations": 0,
                              "max_abs": 0.0, "max_rel": 0.0, "nan": 0, "inf": 0, "bitwise": False}
    if got.shape != want.shape:
        return {**record, "reason": f"shape {tuple(got.shape)} instead of {tuple(want.shape)}"}
    if got.dtype != want.dtype:
        return {**record, "reason": f"dtype {got.dtype} instead of {want.dtype}"}
    got, want = got.detach().reshape(-1), want.detach().reshape(-1)
    worst: tuple[float, int] = (-1.0, -1)
    bitwise = True
    for begin in range(0, want.numel(), _CHUNK):
        w = want[begin:begin + _CHUNK]
        g = got[begin:begin + _CHUNK].to(w.device)
        bitwise = bitwise and torch.equal(_bits(g), _bits(w))
        if not w.is_floating_point():
            outside = (g != w)
            excess = outside.double()
        else:
            g, w = g.double(), w.double()
            difference = (g - w).abs()
            same_infinity = torch.isinf(w) & (g == w)
            inside = (torch.isfinite(g) & torch.isfinite(w) & (difference <= tolerance + tolerance * w.abs())) | same_infinity
            outside = ~inside
            finite = torch.isfinite(difference)
            if bool(finite.any()):
                record["max_abs"] = max(record["max_abs"], float(difference[finite].max()))
                relative = difference[finite] / w[finite].abs().clamp_min(1e-12)
                record["max_rel"] = max(record["max_rel"], float(relative.max()))
            record["nan"] += int(torch.isnan(g).sum())
            record["inf"] += int(torch.isinf(g).sum())
            excess = torch.where(finite, difference / (tolerance + tolerance * w.abs()), torch.where(outside, torch.inf, 0.0).double())
        record["violations"] += int(outside.sum())
        top, at = excess.max(0)
        if float(top) > worst[0]:
            worst = (float(top), begin + int(at))
    record["bitwise"] = bitwise
    record["passed"] = record["violations"] == 0
    if not record["passed"]:
        index = _unravel(worst[1], record["shape"])
        record.update(worst_index=index, worst_got=_number(got[worst[1]]), worst_want=_number(want[worst[1]]))
        record["reason"] = (f"{record['violations']} of {record['elements']} elements are outside {tolerance} + {tolerance} * |reference|"
                            + (f", {record['nan']} are NaN" if record["nan"] else ""))
    return record


def compare_all(got_structure: Any, got: dict[str, torch.Tensor], want_structure: Any, want: dict[str, torch.Tensor], tolerance: float) -> dict[str, Any]:
    """Names are "output 0", "state bn.running_mean", ... Structure and names must be the same."""
    outputs, state = [], []
    reason = ""
    if got_structure != want_structure:
        reason = f"forward returns {describe(got_structure)}, the reference {describe(want_structure)}"
    elif set(got) != set(want):
        reason = "other outputs or buffers than the reference's"
    else:
        for name, w in want.items():
            (outputs if name.startswith("output ") else state).append(compare_tensor(name, got[name], w, tolerance))
    failed = [r for r in outputs + state if not r["passed"]]
    if failed and not reason:
        reason = f"{failed[0]['name']}: {failed[0]['reason']}"
    return {"passed": not reason, "reason": reason, "bitwise": bool(outputs) and not reason and all(r["bitwise"] for r in outputs + state),
            "outputs": outputs, "state": state}


def describe(structure: Any) -> str:
    if "t" in structure:
        return "a tensor"
    for key in ("tuple", "list"):
        if key in structure:
            return f"a {key} of {len(structure[key])}"
    return "a dict" if "dict" in structure else "no tensor"


def _bits(t: torch.Tensor) -> torch.Tensor:
    return t.contiguous().view(torch.uint8) if t.numel() else t


def _number(t: torch.Tensor) -> Any:
    value = t.item()
    return value if not isinstance(value, float) or value == value and abs(value) != float("inf") else str(value)


def _unravel(flat: int, shape: list[int]) -> list[int]:
    index = []
    for size in reversed(shape):
        index.append(flat % size)
        flat //= size
    return index[::-1]
