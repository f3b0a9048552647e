"""A deep one-directional LSTM of which only the last cell states are returned. The classifier runs for nothing."""

import torch
from torch import nn


class Model(nn.Module):
    """x (batch, time, input_size), h0 and c0 (layers, batch, hidden) -> the last c, (layers, batch, hidden)."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int, output_size: int, dropout: float = 0.0):
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout)
        self.fc = nn.Linear(hidden_size, output_size)

    def forward(self, x, h0, c0):
        hidden, (_, cn) = self.lstm(x, (h0, c0))
        self.fc(hidden[:, -1, :])  # computed and thrown away, as in the suite
        return cn


batch_size = 10
sequence_length = 512
input_size = 128
hidden_size = 256
num_layers = 6
output_size = 10
dropout = 0.0


def get_inputs():
    state = (num_layers, batch_size, hidden_size)
    return [torch.rand(batch_size, sequence_length, input_size), torch.rand(state), torch.rand(state)]


def get_init_inputs():
    return [input_size, hidden_size, num_layers, output_size, dropout]
