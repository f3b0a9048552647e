"""What a model carries from call to call: buffers, and plain tensor attributes of its modules (3/33, 3/41)."""

from __future__ import annotations

from typing import Iterator

import torch
from torch import nn


def plain_attributes(model: nn.Module) -> Iterator[tuple[str, nn.Module, str]]:
    """(qualified name, owner, attribute) of every tensor that is neither parameter nor buffer, in module order."""
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                yield (f"{prefix}.{name}" if prefix else name), module, name


def move_plain_state(model: nn.Module, device: torch.device) -> None:
    for _, owner, name in list(plain_attributes(model)):
        setattr(owner, name, getattr(owner, name).detach().to(device))


def state_tensors(model: nn.Module) -> dict[str, torch.Tensor]:
    """Buffers, then plain tensors, as they are now: by qualified name, in the reference's own order."""
    tensors = dict(model.named_buffers())
    tensors.update((name, getattr(owner, attribute)) for name, owner, attribute in plain_attributes(model))
    return tensors


class ModelState:
    """Restores a model's state to what it was when this was made. Plain attributes may have been rebound by forward:
    they get back the very tensor they held, so that addresses stay (a captured graph and a bound plan rely on it)."""

    def __init__(self, model: nn.Module):
        self._owners = [(owner, name, getattr(owner, name)) for _, owner, name in plain_attributes(model)]
        self.live = state_tensors(model)  # the tensors a bound plan reads and writes
        self.initial = {name: tensor.detach().clone() for name, tensor in self.live.items()}

    def restore(self, names: list[str] | None = None) -> None:
        """All of it, or only `names`."""
        for owner, attribute, tensor in self._owners:
            setattr(owner, attribute, tensor)
        with torch.no_grad():
            for name in self.initial if names is None else names:
                self.live[name].copy_(self.initial[name])

    def changed(self) -> list[str]:
        """Names of the live tensors that no longer hold their initial bits."""
        return [name for name, tensor in self.live.items() if not _same_bits(tensor, self.initial[name])]


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.dtype.is_floating_point:
        same = (a == b) | (a.isnan() & b.isnan())
        return bool(same.all())
    return torch.equal(a, b)
