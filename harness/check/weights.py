"""Other weights than those a seed gives: drawn anew, in regimes in which a model shows what its own weights hide.

A fresh model has gamma 1, beta 0, small weights: a kernel that ignores a parameter, a time step or its whole input may
pass. Float parameters and batch-norm statistics are redrawn; masks, indices and other buffers are left alone."""

from __future__ import annotations

import contextlib
import math
from typing import Any, Callable, Iterator

import torch
from torch import nn

from check.input_kinds import TOUCHED, touch_one
from model.failure import Failure

AS_BUILT = "as_built"
_GAIN = {"redrawn": 1.0, "he": math.sqrt(2.0), "peaky": 3.0, "long_memory": 1.0}
REGIMES = (AS_BUILT, *_GAIN, *TOUCHED)
_BIAS = {"redrawn": 0.5, "he": 0.1, "peaky": 0.5, "long_memory": 0.1}  # standard deviations


def applicable(model: nn.Module) -> list[str]:
    """The regimes that mean something for this model: without weights and statistics none but its own."""
    if not any(p.is_floating_point() for p in model.parameters()) and not any(_has_statistics(m) for m in model.modules()):
        return [AS_BUILT]
    return [regime for regime in REGIMES if regime != "long_memory" or any(_memories(model))]


def redraw(model: nn.Module, regime: str, seed: int) -> None:
    """In place. Two models of one task on one kind of device get the same bits."""
    if regime in TOUCHED:
        _touch(model, TOUCHED.index(regime), seed)
        return
    if regime not in _GAIN:
        raise Failure("internal", "bad_request", f"weights: {regime!r:.80} is none of {', '.join(REGIMES)}")
    done: set[int] = set()
    draw = _Draw(next((p.device for p in model.parameters()), torch.device("cpu")), seed)
    with torch.no_grad():
        for module in model.modules():
            for name, parameter in module.named_parameters(recurse=False):
                if id(parameter) not in done and parameter.is_floating_point():
                    done.add(id(parameter))
                    _redraw_one(module, name, parameter, regime, draw)
            if _has_statistics(module):
                draw.normal(module.running_mean, 0.5)
                draw.uniform(module.running_var, 0.5, 1.5)
                _as_after_many_calls(module, regime)
        if regime == "long_memory":
            for remember in _memories(model):
                remember()


def _has_statistics(module: nn.Module) -> bool:
    return getattr(module, "running_var", None) is not None


_CALLS = {"redrawn": 1 << 10, "he": 1 << 24, "peaky": 100, "long_memory": 1 << 16}


def _as_after_many_calls(module: nn.Module, regime: str) -> None:
    """A counter of calls, the model's own or one in the low bits of a statistic, stands where only a long run would bring it."""
    if getattr(module, "num_batches_tracked", None) is not None:
        module.num_batches_tracked.fill_(_CALLS[regime])
    if regime == "he" and module.running_var.dtype == torch.float32:
        for statistic in (module.running_mean, module.running_var):
            statistic.view(torch.int32).bitwise_or_(0xFFF)


def _touch(model: nn.Module, quarter: int, seed: int) -> None:
    """One element of every float parameter (check/input_kinds.py, touch_one). A parameter of the model's own keeps its signs."""
    generator = torch.Generator().manual_seed(seed + 1)
    own = {id(p) for module in model.modules() if not (_normalises(module) or isinstance(module, (*_PRODUCTS, nn.Embedding)))
           for p in module.parameters(recurse=False)}
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.is_floating_point() and parameter.numel():
                whole = parameter.detach().contiguous()
                touch_one(whole, quarter, generator, keep_sign=quarter == 2 or id(parameter) in own)
                parameter.copy_(whole)


@contextlib.contextmanager
def weights(session: Any, regime: str, seed: int) -> Iterator[None]:
    """The session's model, its state and its loaded plan under another regime, and back."""
    if regime == AS_BUILT:
        yield
        return
    from model.state import ModelState

    model, state = session.model, session.state
    state.restore()
    kept = [tensor.detach().clone() for tensor in model.parameters()]
    try:
        redraw(model, regime, seed)
        session.state = ModelState(model)
        _prepare(session)
        yield
    finally:
        with torch.no_grad():
            for tensor, before in zip(model.parameters(), kept):
                tensor.copy_(before)
        session.state = state
        state.restore()
        _prepare(session)


def _prepare(session: Any) -> None:
    if session.plan is not None:
        session.plan.prepare()


class _Draw:
    def __init__(self, device: torch.device, seed: int):
        self._generator = torch.Generator(device).manual_seed(seed)

    def normal(self, tensor: torch.Tensor, deviation: float, mean: float = 0.0) -> None:
        tensor.normal_(mean, deviation, generator=self._generator)

    def uniform(self, tensor: torch.Tensor, low: float, high: float) -> None:
        tensor.uniform_(low, high, generator=self._generator)


_PRODUCTS = (nn.Linear, nn.Bilinear, nn.modules.conv._ConvNd, nn.RNNBase, nn.RNNCellBase, nn.MultiheadAttention)


def _redraw_one(module: nn.Module, name: str, tensor: torch.Tensor, regime: str, draw: _Draw) -> None:
    if _normalises(module):
        if name == "weight":
            draw.uniform(tensor, 0.5, 1.5)
        else:
            draw.normal(tensor, 0.5)
    elif isinstance(module, _PRODUCTS) and tensor.dim() >= 2:
        draw.normal(tensor, _gain(module, regime) / math.sqrt(_fan_in(module, tensor)))
    elif isinstance(module, _PRODUCTS):
        draw.normal(tensor, _BIAS[regime])
    elif isinstance(module, nn.Embedding):
        draw.normal(tensor, 1.0)
    else:  # a parameter of the model's own: its signs and magnitudes may mean something
        factor, noise = torch.empty_like(tensor), torch.empty_like(tensor)
        draw.uniform(factor, 0.5, 1.5)
        draw.normal(noise, 0.5)
        tensor.copy_(torch.where(tensor == 0, noise, tensor * factor))


def _normalises(module: nn.Module) -> bool:
    return isinstance(module, (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)) or \
        type(module).__name__.endswith("Norm")


def _gain(module: nn.Module, regime: str) -> float:
    """Peaky is for what feeds a softmax or a gate; convolutions keep their scale."""
    return math.sqrt(2.0) if regime == "peaky" and isinstance(module, nn.modules.conv._ConvNd) else _GAIN[regime]


def _fan_in(module: nn.Module, tensor: torch.Tensor) -> int:
    if getattr(module, "transposed", False):  # (in, out / groups, kernel...): an output sees kernel / stride taps
        taps = math.prod(tensor.shape[2:]) / math.prod(module.stride)
        return max(1, int(tensor.shape[0] // module.groups * taps))
    return max(1, tensor.numel() // tensor.shape[0])


def _memories(model: nn.Module) -> Iterator[Callable[[], None]]:
    """What makes each recurrent part remember: so that a truncated or chunked sequence shows."""
    for module in model.modules():
        if isinstance(module, nn.RNNBase):
            yield lambda module=module: _remember(module)
        hidden = getattr(module, "hidden_size", None)
        if isinstance(module, nn.RNNBase) or not isinstance(hidden, int):
            continue
        for layer in module.children():  # h = f(Linear(cat(x, h)))
            if isinstance(layer, nn.Linear) and layer.out_features == hidden < layer.in_features:
                yield lambda layer=layer: _orthogonal(layer.weight[:, -layer.out_features:], 1.2)


def _remember(module: nn.RNNBase) -> None:
    hidden = module.hidden_size
    gate = {"LSTM": 1, "GRU": 1}.get(module.mode)  # LSTM: input, forget, cell, output; GRU: reset, update, new
    for name, tensor in module.named_parameters():
        if gate is not None and name.startswith("bias_ih"):
            tensor[gate * hidden:(gate + 1) * hidden] += 4.0
        if gate is None and name.startswith("weight_hh"):
            _orthogonal(tensor, 1.2)


def _orthogonal(tensor: torch.Tensor, gain: float) -> None:
    """Of what the tensor holds: no further draw."""
    q, _ = torch.linalg.qr(tensor.double().cpu())
    tensor.copy_((gain * q).to(tensor.dtype))
