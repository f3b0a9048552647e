"""A recurrent net unrolled over time, one matrix product a step."""

import torch
from torch import nn


class Model(nn.Module):
    """x (time, batch, input_size), h0 (batch, hidden_size) -> (time, batch, output_size)."""

    def __init__(self, input_size: int, hidden_size: int, output_size: int):
        super().__init__()
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)

    def forward(self, x, h0):
        hidden = h0.to(x.device)
        outputs = []
        for step in x:
            hidden = torch.tanh(self.i2h(torch.cat((step, hidden), dim=1)))
            outputs.append(self.h2o(hidden))
        return torch.stack(outputs, dim=0)


batch_size = 8
input_size = 1024
hidden_size = 256
output_size = 128
sequence_length = 256


def get_inputs():
    return [torch.rand(sequence_length, batch_size, input_size), torch.rand(batch_size, hidden_size)]


def get_init_inputs():
    return [input_size, hidden_size, output_size]
