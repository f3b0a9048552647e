"""What a call should give, from a reference in double precision, and how far honest work may be from it.

Honest work: the reference itself under the official flags, the same with every sum disturbed by a few ulps (another
order), and with the operands of every product rounded to TF32 (what the timed baseline is allowed)."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, Callable, ContextManager, Iterator

import torch
from torch import nn

from check.noise import FUNCTIONS, SUMS, Tf32Operands, UlpNoise
from check.structure import flatten
from model.build import build_model
from model.eager import call_eager
from model.flags import precision
from model.session import Session
from model.state import plain_attributes, state_tensors

_ULPS = 8.0  # a sum of thousands in the plainest order; torch's own is blocked
_NOISE_SEED = 7

Values = dict[str, torch.Tensor]  # outputs by position, floating state by name


@dataclass
class Oracle:
    exact: Values         # float64
    honest: list[Values]  # runs as honest work may do them
    float32: int = 0      # the first so many in float32 throughout, without TF32


def ask(session: Session, inputs: list[Any], most: int = 3) -> Oracle:
    """One call from the initial state, under the session's present weights; `most` honest runs, TF32 first."""
    around: list[Callable[[], ContextManager[Any]]] = [
        Tf32Operands, contextlib.nullcontext, lambda: UlpNoise(session.device, _NOISE_SEED, _ULPS, SUMS + FUNCTIONS, operands=True)]
    honest = []
    for mode in around[:most]:
        session.state.restore()
        with torch.no_grad(), precision("official"), mode():
            honest.append(_values(session, session.model, _copies(inputs)))
    session.state.restore()
    return Oracle(_exact(session, inputs), honest[::-1], len(honest) - 1)


def _copies(inputs: list[Any]) -> list[Any]:
    """A model may write to its inputs."""
    return [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]


def _exact(session: Session, inputs: list[Any]) -> Values:
    model = double_model(session)
    wide = [x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in _copies(inputs)]
    with torch.no_grad(), double_by_default():
        return _values(session, model, wide)


def _values(session: Session, model: nn.Module, inputs: list[Any]) -> Values:
    _, outputs = flatten(call_eager(session.task, model, inputs))
    values = {f"output {i}": tensor for i, tensor in enumerate(outputs)}
    values.update(state_tensors(model))
    return {name: tensor.detach().clone() for name, tensor in values.items() if tensor.is_floating_point()}


def double_model(session: Session) -> nn.Module:
    """With the session's present weights and state. Built once a task, and anew (a copy would keep lambdas bound to the original)."""
    if session.double is None:
        session.double = build_model(session.task, session.seed, session.device).double()
    model = session.double
    with torch.no_grad():
        for mine, theirs in zip(model.parameters(), session.model.parameters()):
            mine.copy_(theirs)
        for (_, mine), (_, theirs) in zip(model.named_buffers(), session.model.named_buffers()):
            mine.copy_(theirs)
        present = {name: owner for name, owner, _ in plain_attributes(session.model)}
        modules = dict(model.named_modules())
        for name, owner, attribute in list(plain_attributes(model)):
            if name not in present:
                delattr(owner, attribute)  # an earlier call made it
        for name, theirs, attribute in list(plain_attributes(session.model)):
            value = getattr(theirs, attribute)
            setattr(modules[name.rpartition(".")[0]], attribute, value.double() if value.is_floating_point() else value.clone())
    return model


@contextlib.contextmanager
def double_by_default() -> Iterator[None]:
    """For tensors that forward makes."""
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)
