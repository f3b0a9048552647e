"""How the official check sees a task: the share of outputs outside its tolerance when something harmless changes, and outputs that show little of
their input. Distributions as the official hidden tests have them: inputs x1, x3, x0.01 and x(-1)."""

from __future__ import annotations

import contextlib
from typing import Any, Callable

import torch

from check.noise import UlpNoise
from check.numbers import compare_numbers
from check.oracle import double_by_default, double_model
from check.structure import flatten
from model.flags import precision
from model.session import Session

SCALES = (1.0, 3.0, 0.01, -1.0)
TOLERANCE = 1e-3
_SEED = 42

Outputs = list[torch.Tensor]


def numerics(session: Session) -> dict[str, Any]:
    """Needs a GPU. `shares`: worst over the distributions, None where the variant does not run (its reason beside it)."""
    base = session.inputs(_SEED)
    official = {scale: _run(session, session.model, _scaled(base, scale)) for scale in SCALES}
    shares: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    for name, variant in _VARIANTS.items():
        try:
            run = variant(session)
            shares[name] = max(_share(run(_scaled(base, scale)), official[scale]) for scale in SCALES)
        except Exception as error:  # noqa: BLE001  a model may not run in another precision
            shares[name], reasons[name] = None, f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"
        torch.cuda.empty_cache()
    zero = _run(session, session.model, _scaled(base, 0.0))
    other = _run(session, session.model, session.inputs(_SEED + 1))
    return {"shares": shares, "reasons": reasons,
            "zero_input_passes": all(_share(zero, official[scale]) == 0 for scale in SCALES),
            "other_seed_passes": _share(other, official[1.0]) == 0,
            "standard_deviation": _deviation(official[1.0]),
            "not_finite_x3": sum(int((~t.isfinite()).sum()) for t in official[3.0] if t.is_floating_point())}


def _official(session: Session, flags: Callable[[], Any]) -> Callable[[list[Any]], Outputs]:
    def run(inputs: list[Any]) -> Outputs:
        with flags():
            return _run(session, session.model, inputs, flags=None)
    return run


@contextlib.contextmanager
def _exact_convolutions():
    with precision("official"):
        torch.backends.cudnn.allow_tf32 = False  # precision() puts it back
        yield


def _double(session: Session) -> Callable[[list[Any]], Outputs]:
    # One model for all distributions: only running statistics change from call to call, and no output depends on them in train mode.
    session.state.restore()
    model = double_model(session)

    def run(inputs: list[Any]) -> Outputs:
        with double_by_default():
            return _run(session, model, [x.double() if _floating(x) else x for x in inputs], restore=False)
    return run


_VARIANTS: dict[str, Callable[[Session], Callable[[list[Any]], Outputs]]] = {
    "tf32_matmul": lambda session: _official(session, lambda: precision("baseline")),
    "fp32_convolution": lambda session: _official(session, _exact_convolutions),
    "fp64": _double,
    "one_ulp_noise": lambda session: lambda inputs: _run(session, session.model, inputs, around=UlpNoise(session.device, _SEED)),
}


def _run(session: Session, model: Any, inputs: list[Any], flags: str | None = "official", around: Any = None, restore: bool = True) -> Outputs:
    if restore:
        session.state.restore()
    with torch.no_grad(), (precision(flags) if flags else contextlib.nullcontext()), (around or contextlib.nullcontext()):
        _, tensors = flatten(model(*inputs))
    return [t.clone() for t in tensors]


def _scaled(inputs: list[Any], scale: float) -> list[Any]:
    return [x * scale if _floating(x) else x for x in inputs]


def _floating(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _share(got: Outputs, want: Outputs) -> float:
    """Of elements outside the tolerance."""
    numbers = [compare_numbers(g.to(w.dtype), w, TOLERANCE) for g, w in zip(got, want)]
    return sum(n.violations for n in numbers) / max(1, sum(n.elements for n in numbers))


def _deviation(outputs: Outputs) -> float | str:
    value = max(float(t.double().std()) for t in outputs if t.is_floating_point() and t.numel() > 1)
    return value if value == value and abs(value) != float("inf") else str(value)
