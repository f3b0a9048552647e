"""A perceptron of sixteen equal hidden layers."""

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


batch_size = 1024
input_size = 8192
hidden_layer_sizes = [1024] * 16
output_size = 8192


def get_inputs():
    return [torch.rand(batch_size, input_size)]


def get_init_inputs():
    return [input_size, hidden_layer_sizes, output_size]
