"""SqueezeNet on large images; its dropout has probability zero."""

import torch
from torch import nn


class FireModule(nn.Module):
    """Squeeze the channels, then expand them by 1x1 and 3x3 convolutions side by side."""

    def __init__(self, in_channels: int, squeeze_channels: int, expand_channels: int):
        super().__init__()
        self.squeeze = nn.Conv2d(in_channels, squeeze_channels, kernel_size=1)
        self.expand1x1 = nn.Conv2d(squeeze_channels, expand_channels, kernel_size=1)
        self.expand3x3 = nn.Conv2d(squeeze_channels, expand_channels, kernel_size=3, padding=1)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.relu(self.squeeze(x))
        return torch.cat([self.relu(self.expand1x1(x)), self.relu(self.expand3x3(x))], 1)


def pool() -> nn.MaxPool2d:
    return nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True)


class Model(nn.Module):
    """Stem, eight fire modules, a convolution as classifier, global average: (batch, 3, h, w) -> (batch, classes)."""

    def __init__(self, num_classes: int = 1000):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 96, kernel_size=7, stride=2),
            nn.ReLU(inplace=True),
            pool(),
            FireModule(96, 16, 64),
            FireModule(128, 16, 64),
            FireModule(128, 32, 128),
            pool(),
            FireModule(256, 32, 128),
            FireModule(256, 48, 192),
            FireModule(384, 48, 192),
            FireModule(384, 64, 256),
            pool(),
            FireModule(512, 64, 256),
        )
        self.classifier = nn.Sequential(
            nn.Dropout(p=0.0),
            nn.Conv2d(512, num_classes, kernel_size=1),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d((1, 1)),
        )

    def forward(self, x):
        return torch.flatten(self.classifier(self.features(x)), 1)


batch_size = 64
input_channels = 3
height = 512
width = 512
num_classes = 1000


def get_inputs():
    return [torch.rand(batch_size, input_channels, height, width)]


def get_init_inputs():
    return [num_classes]
