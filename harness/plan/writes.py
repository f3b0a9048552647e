"""Which tensors an operator writes to: those its schema says, and the running statistics of the norms, which it does not say."""
from __future__ import annotations

from typing import Any

import torch

# operator -> positions of the running statistics, and of the flag that says whether they are updated
STATISTICS = {
    "aten::batch_norm": ((3, 4), 5),
    "aten::native_batch_norm": ((3, 4), 5),
    "aten::instance_norm": ((3, 4), 5),
}


def written(func, name: str, args: tuple | list, kwargs: dict) -> list[torch.Tensor]:
    schema = func._schema.arguments

    def value(position: int) -> Any:
        return args[position] if position < len(args) else kwargs.get(schema[position].name)

    positions = [i for i, a in enumerate(schema) if a.alias_info is not None and a.alias_info.is_write]
    statistics, flag = STATISTICS.get(name, ((), 0))
    if statistics and value(flag):
        positions += statistics
    values = [value(i) for i in positions]
    return [t for v in values for t in (v if isinstance(v, (list, tuple)) else [v]) if isinstance(t, torch.Tensor)]
