"""A deep bidirectional GRU of which only the last hidden states are returned."""

import torch
from torch import nn


class Model(nn.Module):
    """x (time, batch, input_size), h0 (2 * layers, batch, hidden) -> (2 * layers, batch, hidden)."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 3, bias: bool = True, batch_first: bool = False
    ):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers, bias, batch_first, bidirectional=True)

    def forward(self, x, h0):
        _, hn = self.gru(x, h0)
        return hn


batch_size = 10
seq_len = 512
input_size = 128
hidden_size = 256
num_layers = 6


def get_inputs():
    state = (num_layers * 2, batch_size, hidden_size)
    return [torch.rand(seq_len, batch_size, input_size), torch.rand(state)]


def get_init_inputs():
    return [input_size, hidden_size, num_layers]
