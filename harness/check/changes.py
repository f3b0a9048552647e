"""Which tensors a call wrote to that it should only read: inputs and parameters. A call that changes one changes it for
its caller, so that it counts as state, to be equal to the reference's (which as a rule changes none)."""

from __future__ import annotations

import secrets

import torch

_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_CHUNK = 1 << 24  # elements


class ReadOnly:
    """Remembers a hash of the bits of each tensor; changed() gives those whose hash is another one now.

    The hash weighs every element by a random number of a secret seed: without it, no change can be made up for by another. The weights are
    made anew for each look and wiped after it, so that a kernel does not find them in memory."""

    def __init__(self, tensors: dict[str, torch.Tensor]):
        self._tensors = tensors
        self._seed = secrets.randbits(62)
        self._hashes = self._hash()

    def changed(self) -> dict[str, torch.Tensor]:
        if not self._tensors:
            return {}
        differs = (self._hash() != self._hashes).tolist()
        return {name: tensor for (name, tensor), new in zip(self._tensors.items(), differs) if new}

    def _hash(self) -> torch.Tensor | None:
        hashes = [_weighted_sum(tensor, self._seed + i).cpu() for i, tensor in enumerate(self._tensors.values())]
        return torch.stack(hashes) if hashes else None


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """Of its elements in order, as flat integers."""
    tensor = tensor.detach()
    tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return tensor.contiguous().view(_BITS[tensor.element_size()]).reshape(-1)


def _weighted_sum(tensor: torch.Tensor, seed: int) -> torch.Tensor:
    """Sum of bits times weights, modulo 2^64."""
    words = bits(tensor)
    generator = torch.Generator(words.device).manual_seed(seed)
    weights = torch.empty(min(words.numel(), _CHUNK), dtype=torch.int64, device=words.device)
    total = torch.zeros((), dtype=torch.int64, device=words.device)
    for begin in range(0, words.numel(), _CHUNK):
        part = words[begin:begin + _CHUNK].to(torch.int64)
        total += (part * weights[:part.numel()].random_(-2**63, 2**63 - 1, generator=generator)).sum()
    weights.zero_()
    return total
