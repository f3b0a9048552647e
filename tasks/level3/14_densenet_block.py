"""A dense block in train mode: every layer sees all channels made before it and adds `growth_rate` of its own."""

import torch
from torch import nn


class Model(nn.Module):
    """(batch, num_input_features, h, w) -> (batch, num_input_features + num_layers * growth_rate, h, w)."""

    def __init__(self, num_layers: int, num_input_features: int, growth_rate: int):
        super().__init__()
        self.layers = nn.ModuleList(
            self.layer(num_input_features + i * growth_rate, growth_rate) for i in range(num_layers)
        )

    @staticmethod
    def layer(in_features: int, growth_rate: int) -> nn.Sequential:
        return nn.Sequential(
            nn.BatchNorm2d(in_features),
            nn.ReLU(inplace=True),
            nn.Conv2d(in_features, growth_rate, kernel_size=3, padding=1, bias=False),
            nn.Dropout(0.0),
        )

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(layer(x))
            x = torch.cat(features, 1)
        return x


batch_size = 10
num_layers = 6
num_input_features = 32
growth_rate = 32
height, width = 224, 224


def get_inputs():
    return [torch.rand(batch_size, num_input_features, height, width)]


def get_init_inputs():
    return [num_layers, num_input_features, growth_rate]
