"""DenseNet's transition layer in train mode: normalise, rectify, mix the channels, halve the resolution."""

import torch
from torch import nn


class Model(nn.Module):
    """(batch, num_input_features, h, w) -> (batch, num_output_features, h / 2, w / 2)."""

    def __init__(self, num_input_features: int, num_output_features: int):
        super().__init__()
        self.transition = nn.Sequential(
            nn.BatchNorm2d(num_input_features),
            nn.ReLU(inplace=True),
            nn.Conv2d(num_input_features, num_output_features, kernel_size=1, bias=False),
            nn.AvgPool2d(kernel_size=2, stride=2),
        )

    def forward(self, x):
        return self.transition(x)


batch_size = 128
num_input_features = 32
num_output_features = 64
height, width = 256, 256


def get_inputs():
    return [torch.rand(batch_size, num_input_features, height, width)]


def get_init_inputs():
    return [num_input_features, num_output_features]
