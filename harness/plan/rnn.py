"""Recurrent networks are kept whole in a plan: torch would unroll them into tens of thousands of operators on tensors without
data. Their result shapes follow from the arguments (torch.nn.LSTM, GRU, RNN documentation)."""
from __future__ import annotations

import torch

NAMES = ("aten::lstm.input", "aten::gru.input", "aten::rnn_tanh.input", "aten::rnn_relu.input")


def results(name: str, args: list) -> tuple[torch.Tensor, ...]:
    """args: input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first.
    Returns output, h_n (and c_n), contiguous, on the input's device; call it under the fake mode."""
    x, hx, params, has_biases, layers, dropout, train, bidirectional, batch_first = args
    if dropout and train:
        raise ValueError("dropout above 0 is random")
    hidden = list(hx) if isinstance(hx, (list, tuple)) else [hx]
    directions = 2 if bidirectional else 1
    h = hidden[0]
    if x.dim() != 3 or h.dim() != 3 or h.shape[0] != layers * directions or not params:
        raise ValueError("a recurrent network needs 3-dimensional input and state, one state a layer and direction")
    batch = x.shape[0] if batch_first else x.shape[1]
    if any(s.shape[1] != batch or s.shape[2] != hidden[-1].shape[2] for s in hidden):
        raise ValueError("input and hidden state have different batch sizes")
    width = h.shape[2] * directions
    steps = x.shape[1] if batch_first else x.shape[0]
    # cuDNN and the native code both lay the output out time first; batch_first gives a transposed view of it.
    out = torch.empty((steps, batch, width), dtype=x.dtype, device=x.device)
    out = out.transpose(0, 1) if batch_first else out
    return (out, *(torch.empty(s.shape, dtype=x.dtype, device=x.device) for s in hidden))
