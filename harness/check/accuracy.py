"""Whether a result is as accurate as honest work: its error against the double-precision reference, bounded by a
multiple of honest runs' errors.

Two views of the error of each tensor, both must hold. Root mean square: absolute, what a dropped step or a lower
precision moves. Quantiles of the relative error: element by element, so that a few huge elements do not hide thousands
of small wrong ones (3/48, 3/49)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from check.numbers import within_tolerance
from check.oracle import Oracle, Values

FACTOR = 3.0                 # times the largest honest error
_QUANTILE_FACTOR = 4.0
_QUANTILES = (0.5, 0.9, 0.99)
_FEWEST_BEYOND = 10          # elements beyond a quantile: of fewer, one that is near zero by chance decides
_FLOOR = 4e-6                # of the root mean square of the values: the reference's own error can be 0
_RELATIVE_FLOOR = 1e-5
_OFFICIAL = 1e-3
_CLEAR = 10.0                # a control fails clearly when its error is this many times the bound
_VACUOUS = 0.1               # honest errors above this share of the values: nothing can be told
_MOST_NOT_FINITE = 0.01      # of the elements; more, and the draw says nothing
_MOST_ELEMENTS = 1 << 24     # quantiles of larger tensors are those of an even sample


@dataclass
class Accuracy:
    name: str
    error: float            # root mean square, against double precision
    honest: float           # the largest of the honest runs
    quantiles: list[float]  # of the relative error
    honest_quantiles: list[float]
    float32_like: bool      # as accurate as float32 throughout: what a split into narrower parts should be
    passed: bool
    vacuous: bool           # the honest errors are as large as the values, or too little is finite
    controls: dict[str, float] = field(default_factory=dict)  # root mean square error of what looks at no input


NOTHING = {"passed": True, "vacuous": True, "sensitive": False, "float32_like": False, "reason": "", "tensors": []}


def judge(got: Values, oracle: Oracle) -> dict[str, Any]:
    """{"passed", "vacuous", "reason", "sensitive", "tensors"}; vacuous: no tensor could be told from noise."""
    tensors = [_tensor(name, got.get(name), exact, [run[name] for run in oracle.honest], oracle.float32) for name, exact in oracle.exact.items()]
    bad = next((t for t in tensors if not t.passed), None)
    reason = ""
    if bad is not None and not bad.quantiles:
        reason = f"{bad.name} is missing or of another shape"
    elif bad is not None:
        reason = (f"{bad.name}: error {bad.error:.3g} against double precision, honest float32 or TF32 has {bad.honest:.3g}; "
                  f"median relative error {bad.quantiles[0]:.3g} against {bad.honest_quantiles[0]:.3g}")
    return {"passed": bad is None, "vacuous": all(t.vacuous for t in tensors), "reason": reason,
            "sensitive": any(not t.vacuous and min(t.controls.values()) > _CLEAR * FACTOR * max(t.honest, t.error) for t in tensors),
            "float32_like": all(t.float32_like for t in tensors), "constants_pass": constants_pass(oracle.exact, _OFFICIAL), "tensors": [_written(asdict(t)) for t in tensors]}


def constants_pass(exact: Values, tolerance: float) -> list[str]:
    """Which answers that look at no input the official check would take in this draw: "zeros", "constant" or both."""
    return [name for name in ("zeros", "constant")
            if exact and all(bool(within_tolerance(_control(name, want).expand_as(want).float(), want.float(), tolerance).all()) for want in exact.values())]


def _written(value: Any) -> Any:
    """As JSON can write it: an error may be infinite."""
    if isinstance(value, dict):
        return {key: _written(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_written(item) for item in value]
    return value if not isinstance(value, float) or math.isfinite(value) else str(value)


def _tensor(name: str, got: torch.Tensor | None, exact: torch.Tensor, honest: list[torch.Tensor], float32: int) -> Accuracy:
    finite = exact.isfinite()
    for run in honest:
        finite &= run.isfinite()
    if got is None or got.shape != exact.shape:
        return Accuracy(name, float("inf"), 0.0, [], [], False, False, False, {"zeros": 0.0})
    share = float(finite.double().mean()) if finite.numel() else 0.0
    if share < 1 - _MOST_NOT_FINITE:
        return Accuracy(name, 0.0, 0.0, [], [], False, True, True, {"zeros": 0.0})
    got = got.to(exact.device).double()
    scale = _rms(exact[finite])
    controls = _controls(torch.where(finite, exact, 0.0))
    errors = [(run.double() - exact).abs()[finite] for run in honest]
    error = (got - exact).abs()[finite]
    limit = max(_rms(e) for e in errors)
    weight = exact.abs()[finite] + 1e-6 * scale + 1e-30
    relative = _quantiles(error / weight)
    honest_relative = [max(values) for values in zip(*(_quantiles(e / weight) for e in errors))]
    vacuous = limit > _VACUOUS * scale > 0
    passed = _rms(error) <= FACTOR * limit + _FLOOR * scale and \
        all(mine <= _QUANTILE_FACTOR * theirs + _RELATIVE_FLOOR
            for q, mine, theirs in zip(_QUANTILES, relative, honest_relative) if q == 0.5 or error.numel() * (1 - q) >= _FEWEST_BEYOND)
    if limit == 0 and not name.startswith("output "):  # state that is copied or counted: no bit of it is free
        passed = passed and bool((error == 0).all())
    narrow = max((_rms(e) for e in errors[:float32]), default=0.0)
    like = _rms(error) <= FACTOR * narrow + _FLOOR * scale
    return Accuracy(name, _rms(error), limit, relative, honest_relative, like, passed or (vacuous and bool(torch.isfinite(error).all())), vacuous, controls)


def _rms(x: torch.Tensor) -> float:
    """NaN counts as infinite: no comparison with it may hold by accident."""
    if x.numel() == 0:
        return 0.0
    value = float(x.double().square().mean().sqrt())
    return value if value == value else float("inf")


def _controls(exact: torch.Tensor) -> dict[str, float]:
    """The errors of answers that look at no input."""
    return {name: _rms(exact - _control(name, exact)) for name in ("zeros", "constant")}


def _control(name: str, exact: torch.Tensor) -> torch.Tensor:
    """All zeros, or the best constant: one for each place of a sample where there are several samples."""
    if name == "zeros":
        return torch.zeros((), dtype=exact.dtype, device=exact.device)
    many = exact.dim() >= 2 and exact.shape[0] > 1
    return exact.mean(0, keepdim=True) if many else exact.mean()


def _quantiles(x: torch.Tensor) -> list[float]:
    if x.numel() == 0:
        return [0.0] * len(_QUANTILES)
    step = (x.numel() + _MOST_ELEMENTS - 1) // _MOST_ELEMENTS
    ordered = torch.nan_to_num(x[::step], nan=float("inf"), posinf=float("inf")).sort().values
    return [float(ordered[min(int(q * ordered.numel()), ordered.numel() - 1)]) for q in _QUANTILES]
