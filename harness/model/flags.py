"""torch's precision flags. `official`: torch's defaults, which the official check compares under (matmul in fp32, cuDNN
convolutions in TF32). `baseline`: what the official timing sets, TF32 in matmul too."""

from __future__ import annotations

import contextlib
from typing import Iterator

import torch

from model.failure import Failure

_MATMUL = {"official": "highest", "baseline": "high"}


@contextlib.contextmanager
def precision(flags: str) -> Iterator[None]:
    if flags not in _MATMUL:
        raise Failure("internal", "bad_request", f"flags: {flags!r} is none of {', '.join(_MATMUL)}")
    matmul, cudnn = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision(_MATMUL[flags])
    torch.backends.cudnn.allow_tf32 = True
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(matmul)
        torch.backends.cudnn.allow_tf32 = cudnn
