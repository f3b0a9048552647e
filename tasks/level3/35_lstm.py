"""A deep one-directional LSTM; only the last time step reaches the classifier."""

import torch
from torch import nn


class Model(nn.Module):
    """(batch, time, input_size) -> (batch, output_size). The initial states h0 and c0, (layers, batch, hidden), are
    zero unless given."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int, output_size: int, dropout: float = 0.0):
        super().__init__()
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout)
        self.fc = nn.Linear(hidden_size, output_size)

    def zero_state(self, x):
        return torch.zeros(self.num_layers, x.size(0), self.hidden_size, device=x.device)

    def forward(self, x, h0=None, c0=None):
        h0 = self.zero_state(x) if h0 is None else h0
        c0 = self.zero_state(x) if c0 is None else c0
        hidden, _ = self.lstm(x, (h0, c0))
        return self.fc(hidden[:, -1, :])


batch_size = 10
sequence_length = 512
input_size = 128
hidden_size = 256
num_layers = 6
output_size = 10
dropout = 0.0


def get_inputs():
    return [torch.rand(batch_size, sequence_length, input_size)]


def get_init_inputs():
    return [input_size, hidden_size, num_layers, output_size, dropout]
