"""A shallow perceptron with two hidden layers of enormous width: 8.6 GB of weights."""

import torch
from torch import nn


class Model(nn.Module):
    """Linear layers with a ReLU after each but the last: (batch, input_size) -> (batch, output_size)."""

    def __init__(self, input_size: int, hidden_layer_sizes: list[int], output_size: int):
        super().__init__()
        widths = [input_size, *hidden_layer_sizes]
        hidden = [
            module for fan_in, fan_out in zip(widths, widths[1:]) for module in (nn.Linear(fan_in, fan_out), nn.ReLU())
        ]
        self.network = nn.Sequential(*hidden, nn.Linear(widths[-1], output_size))

    def forward(self, x):
        return self.network(x)


batch_size = 128
input_size = 16384
hidden_layer_sizes = [32768, 32768]
output_size = 16384


def get_inputs():
    return [torch.rand(batch_size, input_size)]


def get_init_inputs():
    return [input_size, hidden_layer_sizes, output_size]
