"""Which tensors a call wrote to that it should only read: inputs and parameters. A call that changes one changes it for
its caller, so that it counts as state, to be equal to the reference's (which as a rule changes none)."""

from __future__ import annotations

import torch

_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class ReadOnly:
    """Remembers the sum of the bits of each tensor; changed() gives those whose sum is another one now."""

    def __init__(self, tensors: dict[str, torch.Tensor]):
        self._tensors = tensors
        self._sums = self._sum()

    def changed(self) -> dict[str, torch.Tensor]:
        if not self._tensors:
            return {}
        differs = (self._sum() != self._sums).tolist()
        return {name: tensor for (name, tensor), new in zip(self._tensors.items(), differs) if new}

    def _sum(self) -> torch.Tensor | None:
        return torch.stack([_bit_sum(tensor) for tensor in self._tensors.values()]) if self._tensors else None


def _bit_sum(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.detach()
    tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return tensor.contiguous().view(_BITS[tensor.element_size()]).sum(dtype=torch.int64)
