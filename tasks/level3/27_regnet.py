"""A plain convolutional net in the manner of RegNet, in train mode."""

import torch
from torch import nn


class Model(nn.Module):
    """Stages of two convolutions and a pool, global mean, classifier: (batch, input_channels, h, w) -> (batch, classes)."""

    def __init__(self, input_channels: int, stages: int, block_widths: list[int], output_classes: int):
        super().__init__()
        widths = [input_channels, *block_widths[:stages]]
        self.feature_extractor = nn.Sequential(*map(self.stage, widths, widths[1:]))
        self.fc = nn.Linear(block_widths[-1], output_classes)

    @staticmethod
    def stage(in_channels: int, out_channels: int) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
            nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
            nn.MaxPool2d(kernel_size=2, stride=2),
        )

    def forward(self, x):
        return self.fc(torch.mean(self.feature_extractor(x), dim=[2, 3]))


batch_size = 8
input_channels = 3
image_height, image_width = 224, 224
stages = 3
block_widths = [64, 128, 256]
output_classes = 10


def get_inputs():
    return [torch.rand(batch_size, input_channels, image_height, image_width)]


def get_init_inputs():
    return [input_channels, stages, block_widths, output_classes]
