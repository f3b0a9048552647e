"""Which calls draw random numbers. torch tags whole operators; those that are random only with a dropout above 0 are asked for it."""
from __future__ import annotations

import torch

# operator -> position and name of its dropout argument
_DROPOUT = {
    "aten::dropout": (1, "p"),
    "aten::dropout_": (1, "p"),
    "aten::feature_dropout": (1, "p"),
    "aten::alpha_dropout": (1, "p"),
    "aten::scaled_dot_product_attention": (4, "dropout_p"),
    "aten::lstm.input": (5, "dropout"),
    "aten::gru.input": (5, "dropout"),
    "aten::rnn_tanh.input": (5, "dropout"),
    "aten::rnn_relu.input": (5, "dropout"),
}
# With dropout 0 or outside training these hand back their input.
_IDENTITY = ("aten::dropout", "aten::dropout_", "aten::feature_dropout", "aten::alpha_dropout")


def _argument(position: int, name: str, args, kwargs, default):
    return args[position] if position < len(args) else kwargs.get(name, default)


def is_identity(name: str, args, kwargs) -> bool:
    return name in _IDENTITY and not (_argument(1, "p", args, kwargs, 0) and _argument(2, "train", args, kwargs, True))


def is_random(func, name: str, args, kwargs) -> bool:
    if torch.Tag.nondeterministic_seeded not in func.tags or is_identity(name, args, kwargs):
        return False
    if name in _DROPOUT:
        return bool(_argument(*_DROPOUT[name], args, kwargs, 0.0))
    return True
